// The usual dispatch, put together from small parts: which queue comes first (ordering), which configurations it may
// run with (planning), and where (placement). Batches start at once with what waits.
#pragma once
#include <cstdint>
#include <memory>

#include "policy/placement.h"
#include "policy/policy.h"

namespace sluice::policy {

enum class Ordering : std::uint8_t {
  fifo,   // the longest wait
  slack,  // the least time left beyond what the rest must take
};
enum class Planning : std::uint8_t {
  frontier,  // the cheapest plan that still meets the deadline, by what fits
  fixed,     // always the least configuration
};

struct Composition {
  Ordering ordering = Ordering::slack;
  Planning planning = Planning::frontier;
  Placement placement = Placement::locality;
  double margin = 0;  // planning: relative time kept back for noise
};

[[nodiscard]] std::unique_ptr<Dispatch> compose(const Composition& composition);

}  // namespace sluice::policy
