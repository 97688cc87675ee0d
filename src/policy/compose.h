// The usual dispatch, put together from small parts: which queue comes first (ordering), which configurations it may
// run with (planning), and where (placement). Batches start at once with what waits.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

enum class Ordering { fifo, slack };
enum class Placement { locality, best_fit, home, round_robin, balance };

struct Composition {
  Ordering ordering = Ordering::slack;
  Placement placement = Placement::locality;
  bool fixed = false;  // planning `fixed`: always the least configuration; else `frontier`
  double margin = 0;   // planning: relative time kept back for noise
};

[[nodiscard]] std::unique_ptr<Dispatch> compose(const Composition& composition);

}  // namespace sluice::policy
