// Random worlds with faults: every invariant after every event, every oracle after every decision, and everything
// drains. SLUICE_SOAK_SEEDS sets the number of seeds.
#include "sim/soak.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "policy/catalog.h"
#include "sim/describe.h"
#include "sim/oracle/oracles.h"
#include "sim/world.h"
#include "support/sanitized.h"

namespace sluice::sim {
namespace {

TEST(Soak, WorldsOfEveryKindKeepEveryInvariant) {
  const char* asked = std::getenv("SLUICE_SOAK_SEEDS");
  const std::uint64_t seeds = asked == nullptr ? test::fewer_if_sanitized(300) : std::strtoull(asked, nullptr, 10);
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

// A fault on its way from the scheduler to a world of soak is found there, not only in forged histories.
TEST(Soak, FindsAPlantedFault) {
  SoakWorld drawn = draw_soak_world(5);
  drawn.experiment.instances = InstanceMode::warm;
  Oracles oracles;
  auto world =
      World::make(drawn.experiment, {.scheduler = "fifo",
                                     .tamper =
                                         [&](Commands& commands) {
                                           for (Command& command : commands.list) {
                                             auto* reply = std::get_if<Reply>(&command.action);
                                             if (reply == nullptr || reply->outcome != RequestOutcome::finished)
                                               continue;
                                             reply->outcome = RequestOutcome::failed;
                                             reply->error = "WorkerCrashed";
                                           }
                                         },
                                     .oracles = &oracles});
  ASSERT_TRUE(world.ok());
  const RunResult result = (*world)->run();
  ASSERT_TRUE(result.violation);
  EXPECT_NE(result.violation->invariant.find("without as many failures"), std::string::npos);
}

}  // namespace
}  // namespace sluice::sim
