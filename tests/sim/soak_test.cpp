// Random worlds with faults: every invariant after every event, every oracle at every decision, and everything drains.
// SLUICE_SOAK_SEEDS sets the number of seeds. At the end: what is wrong on purpose is found in such worlds.
#include "sim/soak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "policy/catalog.h"
#include "sim/describe.h"
#include "sim/oracle/oracles.h"
#include "sim/world.h"
#include "support/sanitized.h"

namespace sluice::sim {
namespace {

constexpr std::size_t kSeeds = 300;  // unless SLUICE_SOAK_SEEDS says otherwise

TEST(Soak, WorldsOfEveryKindKeepEveryInvariant) {
  const char* asked = std::getenv("SLUICE_SOAK_SEEDS");
  const std::uint64_t seeds = asked == nullptr ? test::fewer_if_sanitized(kSeeds) : std::strtoull(asked, nullptr, 10);
  std::set<std::string> schedulers;
  std::array<std::uint64_t, std::variant_size_v<Event>> events{};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SoakResult result = soak(seed);
    schedulers.insert(result.run.scheduler);
    for (std::size_t i = 0; i < events.size(); ++i) events[i] += result.run.events_by_kind[i];
    const auto& violation = result.run.violation;
    ASSERT_FALSE(violation) << "seed " << seed << " (" << result.run.scheduler << "), event " << violation->event
                            << ": " << violation->invariant;
  }
  EXPECT_EQ(schedulers.size(), policy::scheduler_names().size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string_view kind = event_kind(i);
    if (kind == "ApplicationRemoved") continue;
    EXPECT_GT(events[i], 0u) << kind << " never happened";
  }
}

// Worlds in which something was wrong once: a request that waited for a way to run that could never run, or for what a
// tenant beyond its quota had loaded on every machine, and functions that were loaded in circles.
TEST(Soak, WorldsThatWereBrokenOnceAreWhole) {
  for (const std::uint64_t seed : {974u, 1532u, 2448u, 4077u, 7530u, 7722u, 8817u, 13169u, 17430u, 19276u}) {
    const auto violation = soak(seed).run.violation;
    EXPECT_FALSE(violation) << "seed " << seed << ": " << violation->invariant;
  }
}

TEST(Soak, ASeedRepeatsToTheBit) {
  for (const std::uint64_t seed : {3u, 17u, 99u}) EXPECT_EQ(soak(seed).run.hash, soak(seed).run.hash);
}

std::map<std::string, bool> kinds_of(const SoakWorld& world) {
  const SoakTraits& traits = world.traits;
  return {{"warm", !traits.cold},
          {"cold", traits.cold},
          {"cold and empty at the start", world.begins_empty},
          {"cold with little memory", traits.little_memory},
          {"cold with loads that fail", traits.cold && world.faults.load_fails > 0},
          {"slices anywhere", traits.layout == SliceLayout::any},
          {"slices of MIG", traits.layout == SliceLayout::mig},
          {"slices of buddies", traits.layout == SliceLayout::buddy},
          {"two tenants", traits.two_tenants},
          {"quotas", traits.quotas},
          {"batches sent ahead", traits.ahead},
          {"requests announced", world.faults.announced > 0},
          {"requests announced that never come", world.faults.announced_wrong > 0}};
}

TEST(Soak, DrawsEveryKindOfWorldForEveryScheduler) {
  std::map<std::string, std::map<std::string, int>> worlds;  // by scheduler and kind
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SoakWorld world = draw_soak_world(seed);
    for (const auto& [kind, is] : kinds_of(world)) worlds[world.scheduler][kind] += is ? 1 : 0;
  }
  EXPECT_EQ(worlds.size(), policy::scheduler_names().size());
  for (const auto& [scheduler, kinds] : worlds) {
    for (const auto& [kind, count] : kinds) EXPECT_GT(count, 0) << scheduler << " gets no world of kind: " << kind;
  }
}

// Changes commands on their way from the scheduler into the world.
using Tamper = std::function<void(Commands&)>;

// What breaks in a drawn world, run as soak runs it; empty: nothing.
std::string broken_in(const SoakWorld& drawn, const Tamper& tamper) {
  constexpr std::uint64_t kEventsMax = 20'000;
  Oracles oracles(drawn.limits, drawn.scheduler == "kaas-round-robin");
  auto world = World::make(drawn.experiment, {.scheduler = drawn.scheduler,
                                              .limits = drawn.limits,
                                              .faults = drawn.faults,
                                              .begins_empty = drawn.begins_empty,
                                              .check_every_event = true,
                                              .until_event = kEventsMax,
                                              .tamper = tamper,
                                              .oracles = &oracles});
  EXPECT_TRUE(world.ok());
  const RunResult result = (*world)->run();
  return result.violation ? result.violation->invariant : "";
}

// With every scheduler: nothing breaks in the world, and once its commands are tampered with this text is found.
void expect_found(SoakWorld drawn, const Tamper& tamper, const std::string& text) {
  for (const std::string_view scheduler : policy::scheduler_names()) {
    drawn.scheduler = scheduler;
    EXPECT_EQ(broken_in(drawn, {}), "") << scheduler;
    const std::string broken = broken_in(drawn, tamper);
    EXPECT_NE(broken.find(text), std::string::npos) << scheduler << ": '" << broken << "'";
  }
}

// A world of two tenants in which machines, workers and messages fail; every scheduler accepts requests there.
SoakWorld a_world() {
  return draw_soak_world(120);
}

bool starts_batch(const Command& command) {
  return std::holds_alternative<StartBatch>(command.action);
}

TEST(Soak, FindsANeedlessFailure) {
  const auto fail = [](Commands& commands) {
    for (Command& command : commands.list) {
      auto* reply = std::get_if<Reply>(&command.action);
      if (reply == nullptr || reply->outcome != RequestOutcome::finished) continue;
      reply->outcome = RequestOutcome::failed;
      reply->error = "WorkerCrashed";
    }
  };
  expect_found(a_world(), fail, "without as many failures");
}

// When the next request comes, a minute later, nothing has run for a long time.
TEST(Soak, FindsABatchThatIsNeverSent) {
  SoakWorld world = a_world();
  world.experiment.workload.arrivals = UniformGap{Duration::s(60), Duration::s(61)};
  const auto lose_the_first = [lost = false](Commands& commands) mutable {
    const auto first = std::find_if(commands.list.begin(), commands.list.end(), starts_batch);
    if (lost || first == commands.list.end()) return;
    commands.list.erase(first);
    lost = true;
  };
  expect_found(world, lose_the_first, "could run for");
}

void forbid_repeats(Workflow& workflow) {
  for (Stage& stage : workflow.stages) {
    stage.idempotent = false;
    if (!stage.foreach) continue;
    for (Workflow& body : stage.foreach->body) forbid_repeats(body);
  }
}

TEST(Soak, FindsASecondExecutionOfWhatMustNotRunTwice) {
  SoakWorld world = a_world();
  for (Application& application : world.experiment.applications) forbid_repeats(application.workflow);
  const auto start_again = [](Commands& commands) {
    const auto first = std::find_if(commands.list.begin(), commands.list.end(), starts_batch);
    if (first == commands.list.end()) return;
    Command again = *first;
    std::get<StartBatch>(again.action).id = BatchId(1'000'000);
    commands.list.push_back(again);
  };
  expect_found(world, start_again, "must not run twice and was started again");
}

// Requests come in one burst. Applications belong to one tenant or the other by turns; each batch gets a member of the
// other tenant's last batch, if its request is still there.
TEST(Soak, FindsABatchOfTwoTenants) {
  SoakWorld world = a_world();
  ASSERT_TRUE(world.traits.two_tenants);
  world.experiment.workload.arrivals = UniformGap{Duration{}, Duration::ms(1)};
  const auto share_a_batch = [other = StartBatch()](Commands& commands) mutable {
    for (Command& command : commands.list) {
      if (const auto* reply = std::get_if<Reply>(&command.action))
        std::erase_if(other.members, [&](const BatchMember& member) { return member.request == reply->request; });
      auto* start = std::get_if<StartBatch>(&command.action);
      if (start == nullptr) continue;
      if (other.members.empty() || other.application.value() % 2 == start->application.value() % 2)
        other = *start;
      else
        start->members.push_back(other.members.front());
    }
  };
  expect_found(world, share_a_batch, "holds a request of tenant");
}

// Instead of starting batches, every decision sends the first instance away and loads it again.
TEST(Soak, FindsAFunctionThatIsLoadedInCircles) {
  SoakWorld world = a_world();
  world.begins_empty = true;
  world.experiment.instances = InstanceMode::counted;
  world.experiment.cluster.nodes.front().count = 1;
  world.experiment.workload.arrivals = UniformGap{Duration{}, Duration::ms(10)};
  const auto reload_and_run_nothing = [first = std::optional<LoadInstance>()](Commands& commands) mutable {
    for (const Command& command : commands.list) {
      const auto* load = std::get_if<LoadInstance>(&command.action);
      if (load != nullptr && !first) first = *load;
    }
    if (!first) return;
    std::erase_if(commands.list, starts_batch);
    commands.list.push_back({.action = EvictInstance{.invoker = first->invoker, .instance = first->instance}});
    commands.list.push_back({.action = *first});
  };
  expect_found(world, reload_and_run_nothing, "times and never ran");
}

}  // namespace
}  // namespace sluice::sim
