// Many models, little memory: every scheduler of the catalog where more models are deployed than GPUs hold.
// SLUICE_MANY_MODELS_SEEDS sets the number of random worlds.
#include <gtest/gtest.h>

#include <cstdlib>

#include "policy/catalog.h"
#include "sim/many_models.h"
#include "sim/world.h"
#include "support/sanitized.h"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kEventsMax = 100'000;  // a run that ends has some ten thousand

RunResult run(const ManyModels& models, std::string_view scheduler) {
  const Experiment experiment = many_models(models);
  auto world = World::make(experiment, {.scheduler = std::string(scheduler), .until_event = kEventsMax});
  EXPECT_TRUE(world.ok());
  RunResult result = (*world)->run();
  EXPECT_FALSE(result.violation) << scheduler << ": " << result.violation->invariant;
  EXPECT_LT(result.events, kEventsMax) << scheduler << " never ends";
  return result;
}

// Nobody meets half a point more than `sluice`, and fewer of its batches wait for loads than of `best-fit`'s. With one
// stage there is nothing to load ahead, and about as many do.
void expect_ours_ahead(const ManyModels& models) {
  SCOPED_TRACE(describe(models));
  const RunResult ours = run(models, "sluice");
  for (const std::string_view name : policy::scheduler_names()) {
    if (name == "sluice") continue;
    const RunResult other = run(models, name);
    EXPECT_LE(other.hit_rate(), ours.hit_rate() + 0.005) << name;
    if (name == "best-fit") {
      const double more = models.stages == 1 ? 1.1 : 1;
      EXPECT_LE(static_cast<double>(ours.cold_batches), more * static_cast<double>(other.cold_batches));
    }
  }
}

TEST(ManyModels, FortyApplicationsWithMoreModelsThanMemory) {
  expect_ours_ahead({});
}

TEST(ManyModels, RandomWorlds) {
  const char* asked = std::getenv("SLUICE_MANY_MODELS_SEEDS");
  const std::uint64_t seeds = asked == nullptr ? test::fewer_if_sanitized(6) : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ManyModels models = random_many_models(seed);
    if (asked == nullptr) {
      models.requests = 300;
      models.warmup = 50;
    }
    expect_ours_ahead(models);
  }
}

// Time that is kept for stragglers is no time to load in.
TEST(ManyModels, StragglersCostNoMoreHitsThanOthers) {
  ManyModels forty;
  forty.requests = test::fewer_if_sanitized(forty.requests);
  forty.straggler_probability = 0.02;
  expect_ours_ahead(forty);
  for (std::uint64_t seed = 1; seed <= test::fewer_if_sanitized(3); ++seed) {
    ManyModels models = random_many_models(seed);
    models.straggler_probability = 0.02;
    models.requests = 300;
    models.warmup = 50;
    expect_ours_ahead(models);
  }
}

// Whoever waits for company keeps its function loaded, and others wait for that memory until it is too late. Each of
// the 128 applications has ten requests: they learn it together or not at all.
TEST(ManyModels, NobodyWaitsForCompanyWhileOthersWaitForMemory) {
  const Experiment experiment = many_models(random_many_models(18));
  auto ours = World::make(experiment, {.scheduler = "sluice"}),
       other = World::make(experiment, {.scheduler = "frontier"});
  ASSERT_TRUE(ours.ok() && other.ok());
  EXPECT_GE((*ours)->run().hit_rate(), (*other)->run().hit_rate() - 0.005);
}

TEST(ManyModels, LoadsFailProcessesDieAndSavesAreLoaded) {
  for (const std::string_view name : policy::scheduler_names()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Experiment experiment = many_models({.applications = 6,
                                                 .machines = 2,
                                                 .device_memory = Bytes::gb(8),
                                                 .host_copies = seed % 2 == 0,
                                                 .requests = 60,
                                                 .warmup = 0,
                                                 .seed = seed});
      auto world = World::make(experiment, {.scheduler = std::string(name),
                                            .seed = seed,
                                            .faults = {.crash_per_event = 0.003,
                                                       .load_fails = 0.1,
                                                       .process_dies = 0.02,
                                                       .message_twice = 0.05,
                                                       .cancel = 0.05,
                                                       .reload_per_event = 0.05,
                                                       .gap_per_event = 0.01},
                                            .check_every_event = true,
                                            .until_event = kEventsMax});
      const RunResult result = (*world)->run();
      ASSERT_FALSE(result.violation) << name << " " << seed << ": " << result.violation->invariant;
      EXPECT_LT(result.events, kEventsMax) << name << " " << seed << " never ends";
    }
  }
}

}  // namespace
}  // namespace sluice::sim
