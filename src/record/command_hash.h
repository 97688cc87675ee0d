// One number for everything a decision wants done: all fields of all commands, in order. Replay compares it.
#pragma once
#include <cstdint>

#include "domain/commands.h"

namespace sluice::record {

[[nodiscard]] std::uint64_t hash_of(const Commands& commands);

}  // namespace sluice::record
