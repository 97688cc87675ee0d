#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "base/text.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/live_arguments.h"
#include "cli/up_arguments.h"

namespace sluice::cli {
namespace {

void add_check(CLI::App& app, int& status) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Validate documents: what they say, or all their errors");
  command
      ->add_option("FILE", options->files,
                   "Applications, experiments, clusters, function lists; YAML, ASL (.json), Triton (.pbtxt)")
      ->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = check(*options); });
}

// "420ms" into milliseconds; the text CLI11 shows if it is none.
std::string read_duration(const std::string& text, double& ms) {
  const auto duration = parse_duration(text);
  if (!duration || *duration < Duration{}) return "'" + text + "' is not a duration; write 420ms or 1.5s";
  ms = duration->to_ms();
  return "";
}

void add_plan(CLI::App& app, int& status) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "The configuration of every stage, the alternatives, and why");
  command->add_option("FILE", options->file, "An application")->required();
  command->add_option_function<std::string>(
      "--slo",
      [options](const std::string& text) {
        double ms = 0;
        if (const std::string problem = read_duration(text, ms); !problem.empty())
          throw CLI::ValidationError("--slo", problem);  // tidy: allow(throw) how CLI11 is told
        options->slo_ms = ms;
      },
      "Objective of the whole call, e.g. 526ms (default: the application's)");
  command->add_option_function<std::string>(
      "--elapsed",
      [options](const std::string& text) {
        if (const std::string problem = read_duration(text, options->elapsed_ms); !problem.empty())
          throw CLI::ValidationError("--elapsed", problem);  // tidy: allow(throw) how CLI11 is told
      },
      "Time already spent, e.g. 120ms");
  command->add_option("--queue", options->queue, "Invocations that wait: the largest batch (default 1)")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--from", options->from, "Plan from this stage on (default: the first)");
  command->add_option("--planner", options->planner, "frontier, esg-1q, label or brute-force")
      ->check(CLI::IsMember({"frontier", "esg-1q", "label", "brute-force"}));
  command->add_option("--top", options->top, "Alternatives to show (default 5)")->check(CLI::Range(0, 1000));
  command->add_option("--percentile", options->percentile, "Percentile to meet (default: the application's)")
      ->check(CLI::Range(0.001, 99.999));
  command->add_option("--repeat", options->repeat, "Searches to time; search_us is their median (default 1)")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = plan_command(*options); });
}

void add_sim(CLI::App& app, int& status) {
  auto options = std::make_shared<SimOptions>();
  CLI::App* command = app.add_subcommand("sim", "Run an experiment in virtual time, schedulers side by side");
  command->add_option("FILE", options->file, "An experiment")->required();
  command->add_option("--scheduler", options->schedulers, "Schedulers, separated by commas (default: the experiment's)")
      ->delimiter(',');
  command->add_option("--seed", options->seed, "Seed (default: the experiment's)");
  command->add_option("--requests", options->requests, "Requests after warm-up (default: the experiment's)")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--repeat", options->repeat, "Runs, each with its own seed (default 1)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--csv", options->csv, "Log every request and action to files in this folder");
  command->add_option("--html", options->html, "Write a report to this file");
  command->add_option("--log", options->log, "Record all events of the run in this file, for sluice replay");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = sim_command(*options); });
}

void add_soak(CLI::App& app, int& status) {
  auto options = std::make_shared<SoakOptions>();
  CLI::App* command = app.add_subcommand("soak", "Random worlds with faults, every invariant after every event");
  command->add_option_function<std::string>(
      "--seeds",
      [options](const std::string& text) {
        const std::size_t dots = text.find("..");
        const auto first = parse_int(text.substr(0, dots));
        const auto last = dots == std::string::npos ? first : parse_int(text.substr(dots + 2));
        if (!first || !last || *first < 0 || *last < *first)
          throw CLI::ValidationError("--seeds", "write A..B, both included");  // tidy: allow(throw) how CLI11 is told
        options->first = static_cast<std::uint64_t>(*first);
        options->last = static_cast<std::uint64_t>(*last);
      },
      "Seeds A..B, both included (default 1..200)");
  command->add_option_function<std::uint64_t>(
      "--seed", [options](std::uint64_t seed) { options->first = options->last = seed; }, "One seed");
  command->add_option("--until-event", options->until_event, "Stop at this event");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = soak_command(*options); });
}

void add_replay(CLI::App& app, int& status) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Feed a recorded log to its scheduler again, compare all commands");
  command->add_option("LOG", options->file, "An event log")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = replay_command(*options); });
}

void add_reproduce(CLI::App& app, int& status) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand("reproduce", "Play a paper's experiments: its numbers beside ours");
  command->add_option("PAPER", options->paper, "esg or admission")
      ->required()
      ->check(CLI::IsMember({"esg", "admission"}));
  command->add_option("--setting", options->settings, "Settings, e.g. strict-light,relaxed-heavy (default: headline)")
      ->delimiter(',');
  command->add_flag(
      "--full", options->full,
      "esg: all nine settings, 20 streams of 20,000 requests, ESG tuned anew; admission: all arrivals, wrong times");
  command->add_option("--sweep", options->sweeps, "Instead: capacity, arrivals, noise, transfer, price, …")
      ->delimiter(',');
  command->add_option("--streams", options->streams, "Streams of arrivals and luck (default 1, --full 20, sweeps 5)")
      ->check(CLI::Range(1, 1'000));
  command
      ->add_option("--requests", options->requests, "Requests of a stream after warm-up (default 4000, --full 20000)")
      ->check(CLI::Range(10, 100'000'000));
  command->add_option("--profile", options->profile,
                      "Other profiles: a folder of FUNCTION.csv, or a list of functions");
  command->add_option("--data", options->data,
                      "Folder of the data that --sweep azure needs (default: the sample in examples/traces)");
  command->add_option("--csv", options->csv, "Write rows.csv and every request of every run to this folder");
  command->add_option("--html", options->html, "Write a page to this file");
  command->add_flag("--markdown", options->markdown, "Print tables in Markdown");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = reproduce_command(*options); });
}

void add_init(CLI::App& app, int& status) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command =
      app.add_subcommand("init", "Begin an application: a folder with a document, a function, a request");
  command->add_option("NAME", options->name, "Folder to make; its last part is the application's name")->required();
  command->add_option("--runtime", options->runtime, "python (default), torch or process")
      ->check(CLI::IsMember({"python", "torch", "process"}));
  command->callback([options, &status] { status = init_command(*options); });
}

void add_completion(CLI::App& app, int& status) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* command = app.add_subcommand("completion", "Print a completion script: source <(sluice completion bash)");
  command->add_option("SHELL", *shell, "bash");
  command->callback([shell, &status] { status = completion(*shell); });
}

// The option by its name, "--slo" of "--slo=3s".
std::string name_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

// The first word of the command line that nothing takes, with the nearest that something does; empty: there is none.
std::string unknown_word(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::vector<std::string> left = command->remaining();
  if (left.empty()) return "";
  const bool option = left.front().starts_with('-');
  const std::string word = option ? name_of(left.front()) : left.front();
  std::vector<std::string> names;
  if (option) {
    for (const CLI::Option* one : command->get_options()) {
      for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* one : command->get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(one->get_name());
  }
  if (names.empty()) return "";  // it takes no further words
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto near = nearest(word, views);
  const std::string of = command == &app ? "" : str(" of 'sluice ", command->get_name(), "'");
  return str("unknown ", option ? "option" : "command", " '", printable(word), "'", of,
             near ? str(": did you mean '", *near, "'?") : "");
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool words = code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError;
  const std::string unknown = words ? unknown_word(app) : "";
  const auto parsed = app.get_subcommands();
  const std::string of = parsed.empty() ? "" : parsed.front()->get_name() + " ";
  std::fprintf(stderr, "error: %s\nTry: sluice %s--help\n", unknown.empty() ? error.what() : unknown.c_str(),
               of.c_str());
  return 2;
}

}  // namespace

int run(int argc, char** argv) {
  int status = 0;
  CLI::App app{
      "Sluice serves multi-stage DNN workflows: deploy a workflow with one number, the latency of the whole call."};
  app.name("sluice");
  app.set_version_flag("--version", "sluice " SLUICE_VERSION);
  app.require_subcommand(1);
  app.footer("Try: sluice check examples/esg/image_classification.yaml\nEvery reading command takes --json.");
  add_init(app, status);
  add_check(app, status);
  add_plan(app, status);
  add_sim(app, status);
  add_soak(app, status);
  add_replay(app, status);
  add_reproduce(app, status);
  add_up(app, status);
  add_live_commands(app, status);
  add_completion(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return wrong_usage(app, e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 2;
  }
  return status;
}

}  // namespace sluice::cli
