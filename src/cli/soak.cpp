// `sluice soak`: random worlds with faults until the seeds run out.
#include "sim/soak.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Failure {
  std::uint64_t seed = 0;
  std::string scheduler;
  sim::Violation violation;
};

void print(const Failure& failure) {
  fmt::print("{} seed {} ({}), event {}: {}\n", red("violation:"), failure.seed, failure.scheduler,
             failure.violation.event, failure.violation.invariant);
  for (const std::string& event : failure.violation.last_events) fmt::print("    {}\n", event);
  fmt::print("  again: sluice soak --seed {} --until-event {}\n", failure.seed, failure.violation.event);
}

}  // namespace

int soak_command(const SoakOptions& options) {
  const std::uint64_t count = options.last - options.first + 1;
  std::atomic<std::uint64_t> next = options.first, events = 0;
  std::mutex mutex;
  std::vector<Failure> failures;
  {
    Progress progress("soaking", count);
    const auto work = [&] {
      for (std::uint64_t seed = next++; seed <= options.last; seed = next++) {
        const sim::RunResult run = sim::soak(seed, options.until_event);
        events += run.events;
        progress.add(1);
        if (!run.violation) continue;
        const std::lock_guard lock(mutex);
        failures.push_back({seed, run.scheduler, *run.violation});
      }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
    work();
  }
  std::sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  if (options.json) {
    Json list = Json::array();
    for (const Failure& f : failures)
      list.push_back({{"seed", f.seed}, {"event", f.violation.event}, {"invariant", f.violation.invariant}});
    fmt::print(
        "{}\n",
        Json{{"seeds", count}, {"events", events.load()}, {"violations", failures.size()}, {"failures", list}}.dump(2));
  } else {
    for (const Failure& f : failures) print(f);
    fmt::print("{} {} seeds, {} events, {} violations\n", failures.empty() ? green("ok:") : red("error:"), count,
               events.load(), failures.size());
  }
  return failures.empty() ? 0 : 1;
}

}  // namespace sluice::cli
