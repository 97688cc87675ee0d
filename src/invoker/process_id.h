// ProcessId: a worker process of this machine, numbered in the order of their making and never used again.
#pragma once
#include <cstdint>

#include "base/id.h"

namespace sluice::invoker {

using ProcessId = Id<struct ProcessTag, std::uint64_t>;

}  // namespace sluice::invoker
