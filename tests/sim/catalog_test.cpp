// Every scheduler of the catalog in small worlds outside of any paper's settings: profiles with batches or shares
// missing, other prices, kinds of devices, layouts of slices, machines of several sizes, warm and cold.
// SLUICE_CATALOG_SEEDS sets the number of worlds, SLUICE_CATALOG_FIRST the first.
#include <gtest/gtest.h>

#include <cstdlib>

#include "policy/catalog.h"
#include "sim/small_world.h"
#include "sim/world.h"

namespace sluice::sim {
namespace {

using small_world::Drawn, small_world::random_world;

TEST(Catalog, NobodyWaitsForEverNothingAbortsAndOursMeetsWhatCanBeMet) {
  const char* asked = std::getenv("SLUICE_CATALOG_SEEDS");
  const char* from = std::getenv("SLUICE_CATALOG_FIRST");
  const std::uint64_t first = from == nullptr ? 0 : std::strtoull(from, nullptr, 10);
  const std::uint64_t seeds = asked == nullptr ? 200 : std::strtoull(asked, nullptr, 10);
  constexpr std::uint64_t kEventsMax = 50'000;  // a run of twelve requests has some hundreds
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Drawn drawn = random_world(seed);
    for (const std::string_view name : policy::scheduler_names()) {
      auto world = World::make(
          drawn.experiment,
          {.scheduler = std::string(name), .seed = seed, .check_every_event = true, .until_event = kEventsMax});
      ASSERT_TRUE(world.ok()) << seed << " " << name << ": " << world.error().message;
      const RunResult result = (*world)->run();
      ASSERT_FALSE(result.violation) << seed << " " << name << ": " << result.violation->invariant;
      ASSERT_LT(result.events, kEventsMax) << seed << " " << name << " never ends";
      const bool warm = drawn.experiment.instances == InstanceMode::warm;
      if (name == "sluice" && (warm ? drawn.idle : drawn.idle_from_cold)) {
        EXPECT_EQ(result.met, result.requests) << seed << ": " << result.late << " late, " << result.rejected
                                               << " rejected, " << result.failed << " failed";
      }
      if (name != "sluice" && name != "admission" && name != "thesis-whole-dag") {
        EXPECT_EQ(result.rejected, 0u) << seed << " " << name;
      }
      // On cold machines it may have to: where loads take longer than the objective, and calls come so rarely that what
      // was loaded for one is gone before the next.
      if (name == "admission" && drawn.idle && warm) {
        EXPECT_LT(result.rejected, result.requests) << seed << " refuses everything";
      }
    }
  }
}

// Three branches of a lone request on four vCPUs: each alone would take two of them, and the third would be late.
TEST(Catalog, BranchesOfARequestLeaveRoomForEachOther) {
  const Experiment experiment = random_world(1037).experiment;
  auto world = World::make(experiment, {.scheduler = "sluice", .seed = 1037});
  ASSERT_TRUE(world.ok());
  const RunResult result = (*world)->run();
  EXPECT_EQ(result.met, result.requests);
}

}  // namespace
}  // namespace sluice::sim
