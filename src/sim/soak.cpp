#include "sim/soak.h"

#include "base/check.h"
#include "base/text.h"
#include "sim/oracle/oracles.h"
#include "sim/prepare.h"
#include "sim/world.h"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kEventsMax = 60'000;  // a world has some hundreds, a busy one some tens of thousands

}  // namespace

SoakResult soak(std::uint64_t seed, std::optional<std::uint64_t> until_event) {
  const SoakWorld drawn = draw_soak_world(seed);
  Oracles oracles(drawn.limits, drawn.scheduler == "kaas-round-robin");
  const auto prepared = prepare(drawn.experiment, drawn.scheduler);
  CHECK_MSG(prepared.ok(), str("seed ", seed, ": ", prepared.error().message));
  auto world = World::make(drawn.experiment, {.scheduler = drawn.scheduler,
                                              .seed = seed,
                                              .limits = drawn.limits,
                                              .prepared = *prepared,
                                              .faults = drawn.faults,
                                              .begins_empty = drawn.begins_empty,
                                              .check_every_event = true,
                                              .until_event = until_event.value_or(kEventsMax),
                                              .oracles = &oracles});
  CHECK_MSG(world.ok(), str("seed ", seed, ": ", world.error().message));
  SoakResult out{drawn.traits, (*world)->run()};
  if (!out.run.violation && !until_event && out.run.events >= kEventsMax)
    out.run.violation = Violation{out.run.events, "the world never ends", {}};
  return out;
}

}  // namespace sluice::sim
