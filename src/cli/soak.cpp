// `sluice soak`: random worlds with faults until the seeds run out.
#include "sim/soak.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "sim/describe.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Failure {
  std::uint64_t seed = 0;
  std::string scheduler;
  sim::SoakTraits traits;
  sim::Violation violation;
};

void print(const Failure& failure) {
  const char* world = failure.traits.little_memory ? "little memory" : failure.traits.cold ? "cold" : "warm";
  fmt::print("{} seed {} ({}, {}), event {}: {}\n", red("violation:"), failure.seed, failure.scheduler, world,
             failure.violation.event, failure.violation.invariant);
  for (const std::string& event : failure.violation.last_events) fmt::print("    {}\n", event);
  fmt::print("  again: sluice soak --seed {} --until-event {}\n", failure.seed, failure.violation.event);
}

// Which worlds were met, and what happened in them.
struct Met {
  std::map<std::string, std::uint64_t> schedulers, schedulers_cold;  // runs by name, and those in cold worlds
  std::map<std::string, std::uint64_t> worlds;                       // by kind; a world is counted under several
  std::array<std::uint64_t, std::variant_size_v<Event>> events{};

  void add(const sim::SoakResult& result) {
    ++schedulers[result.run.scheduler];
    schedulers_cold[result.run.scheduler] += result.traits.cold ? 1 : 0;
    ++worlds[result.traits.cold ? "cold" : "warm"];
    if (result.traits.little_memory) ++worlds["little memory"];
    if (result.traits.two_tenants) ++worlds["two tenants"];
    if (result.traits.quotas) ++worlds["quotas"];
    if (result.traits.ahead) ++worlds["batches sent ahead"];
    constexpr std::array kLayouts{"layout any", "layout mig", "layout buddy"};
    ++worlds[kLayouts[static_cast<std::size_t>(result.traits.layout)]];
    for (std::size_t i = 0; i < events.size(); ++i) events[i] += result.run.events_by_kind[i];
  }
  [[nodiscard]] std::map<std::string, std::uint64_t> events_by_name() const {
    std::map<std::string, std::uint64_t> out;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i] > 0) out.emplace(sim::event_kind(i), events[i]);
    }
    return out;
  }
};

void print(std::string_view title, const std::map<std::string, std::uint64_t>& counts) {
  std::string line;
  for (const auto& [name, count] : counts) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, count);
  fmt::print("  {}: {}\n", title, line);
}

void print_json(const std::vector<Failure>& failures, std::uint64_t seeds, const Met& met) {
  Json list = Json::array();
  for (const Failure& f : failures)
    list.push_back({{"seed", f.seed},
                    {"scheduler", f.scheduler},
                    {"event", f.violation.event},
                    {"invariant", f.violation.invariant}});
  const std::uint64_t events = std::accumulate(met.events.begin(), met.events.end(), std::uint64_t{0});
  fmt::print("{}\n", Json{{"seeds", seeds},
                          {"events", events},
                          {"violations", failures.size()},
                          {"failures", list},
                          {"schedulers", met.schedulers},
                          {"schedulers_cold", met.schedulers_cold},
                          {"worlds", met.worlds},
                          {"events_by_kind", met.events_by_name()}}
                         .dump(2));
}

}  // namespace

int soak_command(const SoakOptions& options) {
  const std::uint64_t count = options.last - options.first + 1;
  std::atomic<std::uint64_t> next = options.first;
  std::mutex mutex;
  std::vector<Failure> failures;
  Met met;
  {
    Progress progress("soaking", count);
    const auto work = [&] {
      for (std::uint64_t seed = next++; seed <= options.last; seed = next++) {
        const sim::SoakResult result = sim::soak(seed, options.until_event);
        progress.add(1);
        const std::lock_guard lock(mutex);
        met.add(result);
        if (result.run.violation)
          failures.push_back({seed, result.run.scheduler, result.traits, *result.run.violation});
      }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
    work();
  }
  std::sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  if (options.json) {
    print_json(failures, count, met);
  } else {
    for (const Failure& f : failures) print(f);
    const std::uint64_t events = std::accumulate(met.events.begin(), met.events.end(), std::uint64_t{0});
    fmt::print("{} {} seeds, {} events, {} violations\n", failures.empty() ? green("ok:") : red("error:"), count,
               events, failures.size());
    print("schedulers", met.schedulers);
    print("in cold worlds", met.schedulers_cold);
    print("worlds", met.worlds);
    print("events", met.events_by_name());
  }
  return failures.empty() ? 0 : 1;
}

}  // namespace sluice::cli
