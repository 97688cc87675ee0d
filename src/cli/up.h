// `sluice up`: gateway, scheduler and local invoker in one process.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace sluice::cli {

struct UpOptions {
  std::string listen = "127.0.0.1:8000";
  std::string data;     // empty: $SLUICE_DATA, else sluice-data below the working directory
  std::string cluster;  // a document with machines to emulate; empty: this one
  std::string scheduler = "sluice";
  std::string admission;         // of `sluice`: "slo" promises every request its time; empty: its own
  std::string gpus = "auto";     // or none
  std::string gpu_mode;          // empty: mig where GPUs are parted so, else green
  bool gpu_mps = false;          // tenants compute on a GPU at the same time
  std::uint32_t gpu_slices = 0;  // of each; 0: by its SMs
  std::string objects = "2GB";   // of shared memory for tensors
  std::string request_bytes_max = "256MiB";
  unsigned threads = 1;  // of the gateway
  bool demo = false;
  bool durable = false;           // survive power loss, not only crashes
  bool triton_errors = false;     // 503 with Triton's texts instead of 429 and 504
  bool open_metrics = false;      // /metrics shows the series of all tenants without a key
  bool guard_metrics = false;     // /metrics wants a key like other pages
  std::string tls_cert, tls_key;  // PEM files; empty: plain HTTP
  std::string log;                // text or json; empty: only if there is a log file
  std::string log_level = "info";
  std::string log_file;                         // empty: stderr
  bool json = false;                            // one line of JSON when it is ready, instead of tables
  std::map<std::string, std::string> places{};  // "FILE:LINE:COLUMN" of what a configuration file says, by flag
};
// Serves until SIGTERM or SIGINT, which drain; a second one stops at once. SIGHUP opens the log file again and reads
// the certificate again. 0 if it ran, 1 if it could not.
int up_command(const UpOptions& options);
// Says whether a server could start with these, and what is wrong with the first that it could not: 0 or 1.
int check_up(const UpOptions& options);

}  // namespace sluice::cli
