// The "together" figures: what requests of one application cost if arrivals are known, consecutive ones are grouped as
// well as can be and machines are always free. Not a bound (requests could meet at later stages), but close to what is
// possible, and with noise the figure to compare with: within a few per cent of it nothing is left to gain.
#pragma once
#include "base/money.h"
#include "reproduce/bounds/offered.h"

namespace sluice::reproduce {

struct Together {
  std::uint64_t requests = 0;  // measured
  Dollars planned = 0;         // all on time, times at their means; requests that cannot be count the miss price
  Dollars expected = 0;        // with noise, missing at `miss_price` included: cost + miss price × misses
};
// A group of n costs n times the cheapest plan with batches of at most n within the objective less the time between its
// first and last arrival; inputs are where the batch runs. Groups have the sizes of batches. REQUIRES: miss_price > 0.
[[nodiscard]] Together together(const Offered& offered, Dollars miss_price);

}  // namespace sluice::reproduce
