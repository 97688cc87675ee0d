// Where a batch runs, given its configuration. One small rule each; `compose` puts one of them into a dispatch.
#pragma once
#include <cstdint>
#include <optional>

#include "policy/view.h"

namespace sluice::policy {

enum class Placement : std::uint8_t {
  locality,     // where the inputs of the oldest invocation are; else the emptiest, so that later stages can grow there
  best_fit,     // the fullest that still has room
  home,         // the function's home invoker, then the others in its probe order (home.h)
  round_robin,  // the next after the last one used
  balance,      // the emptiest
};

// REQUIRES: `next` < number of invokers or 0: where round robin goes on. Equal ones go to the lowest id.
[[nodiscard]] std::optional<std::uint32_t> place(Placement placement, const View& view, const Queue& queue,
                                                 const Configuration& c, std::uint32_t next);

}  // namespace sluice::policy
