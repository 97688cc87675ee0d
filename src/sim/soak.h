// Soak: one random world, run with every invariant after every event and every oracle at every decision.
#pragma once
#include <cstdint>
#include <optional>

#include "sim/result.h"
#include "sim/soak_world.h"

namespace sluice::sim {

struct SoakResult {
  SoakTraits traits;
  RunResult run;
};

// The same seed gives the same world and the same run.
[[nodiscard]] SoakResult soak(std::uint64_t seed, std::optional<std::uint64_t> until_event = std::nullopt);

}  // namespace sluice::sim
