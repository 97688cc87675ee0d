// The sub-commands of `sluice`; each returns the exit status. Parsing of the command line is in cli.cpp only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::cli {

struct CheckOptions {
  std::vector<std::string> files;
  bool json = false;
};
// Validates documents: 0 if all are right, 1 if one is not.
int check(const CheckOptions& options);

struct InitOptions {
  std::string name;  // of the folder; its last part is that of the application
  std::string runtime = "python";
};
// A folder with a document, a function and a request to begin with; what is there is not overwritten.
int init_command(const InitOptions& options);

struct PlanOptions {
  std::string file;
  std::optional<double> slo_ms;  // absent: the application's
  std::uint32_t queue = 1;       // invocations that wait
  double elapsed_ms = 0;
  std::string from;                  // a stage; empty: the first
  std::string planner = "frontier";  // or esg-1q, label, brute-force
  std::size_t top = 5;               // alternatives
  std::optional<double> percentile;  // absent: the application's
  int repeat = 1;                    // searches timed
  bool json = false;
};
// The plan of an application, its alternatives, and why. 0 also if no plan meets the objective.
int plan_command(const PlanOptions& options);

struct SimOptions {
  std::string file;
  std::vector<std::string> schedulers;  // empty: the experiment's
  std::optional<std::uint64_t> seed, requests;
  int repeat = 1;    // runs with seeds one after the other
  std::string csv;   // a folder for logs; empty: none
  std::string html;  // a file for the report; empty: none
  std::string log;   // a file for the event log; empty: none
  bool json = false;
};
// Runs an experiment in virtual time.
int sim_command(const SimOptions& options);

struct SoakOptions {
  std::uint64_t first = 1, last = 200;       // seeds, both included
  std::optional<std::uint64_t> until_event;  // with one seed: stop there
  bool json = false;
};
// Random worlds with faults, every invariant after every event. 1 if one is broken.
int soak_command(const SoakOptions& options);

struct ReplayOptions {
  std::string file;
  bool json = false;
};
// Feeds a recorded log to its scheduler again. 1 if a decision gives other commands or the log is damaged.
int replay_command(const ReplayOptions& options);

struct ReproduceOptions {
  std::string paper;
  std::vector<std::string> settings, sweeps;
  bool full = false;
  std::optional<std::uint64_t> streams, requests;
  std::string profile;  // a file or folder; empty: the usual profiles
  std::string data;     // a folder with traces and measurements; empty: the usual one
  std::string csv;      // a folder for rows and logs; empty: none
  std::string html;     // a file for the page; empty: none
  bool json = false, markdown = false;
};
// Plays a paper's experiments; its numbers beside ours. 0 also if some of its claims do not hold.
int reproduce_command(const ReproduceOptions& options);

// Prints the completion script of a shell ("bash").
int completion(const std::string& shell);

}  // namespace sluice::cli
