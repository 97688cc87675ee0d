// `sluice sim`: an experiment in virtual time, several schedulers side by side.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/sim_log.h"
#include "report/sim_page.h"
#include "report/sim_text.h"
#include "sim/prepare.h"
#include "sim/world.h"
#include "spec/load.h"
#include "workload/stream.h"

namespace sluice::cli {
namespace {

struct Setup {
  Experiment experiment;
  std::string trace;                                 // the text of its file
  std::vector<std::string> names;                    // of schedulers
  std::map<std::string, policy::Prepared> prepared;  // by scheduler
};

struct Task {
  std::string scheduler;
  std::uint64_t seed;
  std::vector<sim::Observer*> observers;
  record::Recorder* recorder = nullptr;
};

struct EventLog {
  explicit EventLog(const std::string& file) : out(file, std::ios::binary), recorder(out) {}
  [[nodiscard]] bool close() {
    errno = 0;
    const bool whole = recorder.ok();
    out.close();
    return whole && out.good();
  }
  std::ofstream out;
  record::Recorder recorder;
};

// Several observers of one run.
class Everybody final : public sim::Observer {
 public:
  explicit Everybody(std::vector<sim::Observer*> list) : list_(std::move(list)) {}
  void request(const sim::RequestRow& row) override {
    for (sim::Observer* one : list_) one->request(row);
  }
  void action(const sim::ActionRow& row) override {
    for (sim::Observer* one : list_) one->action(row);
  }

 private:
  std::vector<sim::Observer*> list_;
};

Error located(const std::string& place, const Error& error) {
  return {error.code, fmt::format("{}: {}", place, error.message)};
}

// Where the experiment names the i-th scheduler; a single one may stand without a list.
std::string place_of_scheduler(const SimOptions& options, const spec::Loaded& loaded, std::size_t i) {
  if (!options.schedulers.empty()) return "--scheduler";
  const std::string item = fmt::format("schedulers[{}]", i);
  return loaded.place(loaded.places.contains(item) ? item : "schedulers");
}

Result<std::string> read_trace(const spec::Loaded& loaded, const Experiment& experiment) {
  const auto* from = std::get_if<Trace>(&experiment.workload.arrivals);
  if (from == nullptr) return std::string();
  auto text = spec::read_trace_from_disk(from->file);
  if (!text) return located(loaded.place("workload.file"), text.error());
  return text;
}

Status check_arrivals(const spec::Loaded& loaded, const Setup& setup) {
  std::vector<std::string> names;
  for (const Application& application : setup.experiment.applications) names.push_back(application.name);
  const Experiment& experiment = setup.experiment;
  const auto made = workload::ArrivalStream::make(experiment.workload, names, experiment.seed, setup.trace);
  if (made) return Done{};
  const bool trace = std::holds_alternative<Trace>(experiment.workload.arrivals);  // names its file and line itself
  return trace ? made.error() : located(loaded.place("workload"), made.error());
}

// Everything that can be wrong is said before the first event.
Result<Setup> set_up(const SimOptions& options, const spec::Loaded& loaded) {
  Setup setup{.experiment = std::get<Experiment>(*loaded.document)};
  Experiment& experiment = setup.experiment;
  if (options.requests) experiment.workload.requests = *options.requests;
  if (options.seed) experiment.seed = *options.seed;
  auto trace = read_trace(loaded, experiment);
  if (!trace) return trace.error();
  setup.trace = std::move(trace).value();
  if (const Status arrivals = check_arrivals(loaded, setup); !arrivals) return arrivals.error();
  setup.names = options.schedulers.empty() ? experiment.schedulers : options.schedulers;
  if (setup.names.empty()) setup.names = {"sluice"};
  for (std::size_t i = 0; i < setup.names.size(); ++i) {
    const std::string& name = setup.names[i];
    if (const auto known = policy::make_scheduler(name, {}); !known)
      return located(place_of_scheduler(options, loaded, i), known.error());
    const auto world = sim::World::make(experiment, {.scheduler = name, .seed = experiment.seed}, setup.trace);
    // What is too large for every machine; all else is wrong with an application.
    if (!world)
      return located(loaded.place(world.error().code == ErrorCode::too_large ? "cluster" : "applications"),
                     world.error());
    auto made = sim::prepare(experiment, name);
    if (!made) return located(loaded.place("applications"), made.error());
    setup.prepared.emplace(name, std::move(made).value());
  }
  if (std::set(setup.names.begin(), setup.names.end()).size() < setup.names.size() &&
      !(options.csv.empty() && options.html.empty()))
    return Error{ErrorCode::invalid, "--scheduler names one twice; logs and reports tell them apart by name"};
  if (!options.log.empty() && (setup.names.size() > 1 || options.repeat > 1)) {
    return Error{ErrorCode::invalid, "--log records one run; give one --scheduler and no --repeat"};
  }
  for (const std::string& file : {options.html, options.log}) {
    if (!file.empty() && !std::ofstream(file, std::ios::app))
      return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", file, std::strerror(errno))};
  }
  return setup;
}

// Runs all tasks on the cores.
std::vector<sim::RunResult> run_all(const Setup& setup, const std::vector<Task>& tasks, const std::string& what) {
  const Workload& workload = setup.experiment.workload;
  Progress progress(what, (workload.requests + workload.warmup) * tasks.size());
  std::vector<sim::RunResult> results(tasks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      std::uint64_t seen = 0;
      Everybody everybody(tasks[i].observers);
      sim::WorldOptions options{
          .scheduler = tasks[i].scheduler, .seed = tasks[i].seed, .prepared = setup.prepared.at(tasks[i].scheduler)};
      options.progress = [&](std::uint64_t requests) {
        progress.add(requests - seen);
        seen = requests;
      };
      if (!tasks[i].observers.empty()) options.observer = &everybody;
      options.recorder = tasks[i].recorder;
      auto world = sim::World::make(setup.experiment, std::move(options), setup.trace);
      results[i] = (*world)->run();
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(cores, tasks.size()); ++i) threads.emplace_back(work);
  work();
  threads.clear();  // waits for them
  return results;
}

// Runs repeat to the bit, so a second run gives the closer look at the window that the first ones chose.
Status write_report(const Setup& setup, const std::string& file, const std::vector<report::Runs>& grouped,
                    const std::vector<sim::RunShape>& shapes) {
  std::vector<const sim::RunShape*> all;
  for (const sim::RunShape& shape : shapes) all.push_back(&shape);
  const std::uint64_t length = report::window_length(setup.experiment, shapes.size());
  const std::uint64_t first = std::max(sim::RunShape::choose_window(all, length), setup.experiment.workload.warmup);
  std::vector<sim::RunWindow> windows(shapes.size(), sim::RunWindow(first, length));
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    tasks.push_back({setup.names[i], setup.experiment.seed, {&windows[i]}});
  (void)run_all(setup, tasks, "a closer look");
  std::vector<report::Reported> reported;
  for (std::size_t i = 0; i < shapes.size(); ++i) reported.push_back({grouped[i], &shapes[i], &windows[i]});
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << report::report_html(setup.experiment, reported);
  out.close();
  if (!out) return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", file, std::strerror(errno))};
  return Done{};
}

void print(const SimOptions& options, const Experiment& experiment, const std::vector<report::Runs>& grouped) {
  if (options.json) {
    fmt::print("{}\n", report::sim_json(experiment, grouped));
    return;
  }
  fmt::print("{}: {} requests after {} of warm-up, seed {}{}\n\n", bold(experiment.name), experiment.workload.requests,
             experiment.workload.warmup, experiment.seed,
             options.repeat > 1 ? fmt::format(" and the {} after it; 95 % intervals", options.repeat - 1) : "");
  fmt::print("{}", report::sim_table(grouped));
}

int run_and_tell(const SimOptions& options, const Setup& setup) {
  const Experiment& experiment = setup.experiment;
  std::vector<Task> tasks;
  std::vector<std::unique_ptr<report::SimLog>> logs;
  std::vector<sim::RunShape> shapes;
  shapes.resize(options.html.empty() ? 0 : setup.names.size(),
                sim::RunShape(experiment.applications.size(), experiment.workload.warmup));
  for (std::size_t s = 0; s < setup.names.size(); ++s) {
    for (int r = 0; r < options.repeat; ++r) {
      Task task{setup.names[s], experiment.seed + static_cast<std::uint64_t>(r), {}};
      if (!options.csv.empty()) {
        auto log = report::SimLog::open(fmt::format("{}/{}-seed{}", options.csv, task.scheduler, task.seed));
        if (!log) return failed(log.error().message);
        task.observers.push_back(&(*log)->observer());
        logs.push_back(std::move(log).value());
      }
      if (r == 0 && !shapes.empty()) task.observers.push_back(&shapes[s]);
      tasks.push_back(std::move(task));
    }
  }
  std::optional<EventLog> event_log;
  if (!options.log.empty()) tasks.front().recorder = &event_log.emplace(options.log).recorder;
  const auto results = run_all(setup, tasks, fmt::format("simulating {}", experiment.name));
  if (event_log && !event_log->close()) {
    return failed(fmt::format("cannot write '{}': {}", options.log, std::strerror(errno)));
  }
  std::vector<report::Runs> grouped(setup.names.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].violation)
      return failed(
          fmt::format("{}: seed {}: {}", results[i].scheduler, results[i].seed, results[i].violation->invariant));
    grouped[i / static_cast<std::size_t>(options.repeat)].push_back(&results[i]);
  }
  for (const auto& log : logs) {
    if (const Status closed = log->close(); !closed) return failed(closed.error().message);
  }
  if (!shapes.empty()) {
    if (const Status written = write_report(setup, options.html, grouped, shapes); !written)
      return failed(written.error().message);
  }
  print(options, experiment, grouped);
  return 0;
}

}  // namespace

int sim_command(const SimOptions& options) {
  const spec::Loaded loaded = spec::load(options.file);
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) fmt::print(stderr, "{}\n", to_string(d));
  if (!loaded.document) return 1;
  if (!std::holds_alternative<Experiment>(*loaded.document))
    return failed(fmt::format("{} is no experiment; sluice sim needs one", options.file));
  const Result<Setup> setup = set_up(options, loaded);
  if (!setup) return failed(setup.error().message);
  return run_and_tell(options, *setup);
}

}  // namespace sluice::cli
