// Random worlds: small clusters, random workflows, faults drawn from one seed, every invariant after every event.
#pragma once
#include <cstdint>
#include <optional>

#include "sim/result.h"

namespace sluice::sim {

// One world. The same seed gives the same world and the same run.
[[nodiscard]] RunResult soak(std::uint64_t seed, std::optional<std::uint64_t> until_event = std::nullopt);

}  // namespace sluice::sim
