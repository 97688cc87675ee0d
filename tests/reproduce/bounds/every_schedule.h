// Every schedule of a tiny experiment, tried one after the other: the oracle of the bounds. Batches start when
// something has just happened; starting later changes no cost and no luck. Exponential in everything.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "base/money.h"
#include "domain/experiment.h"
#include "reproduce/bounds/offered.h"

namespace sluice::reproduce {

struct BestBills {
  Dollars whole = 0;       // of all requests
  Dollars of_the_met = 0;  // not of the same schedule, perhaps
};
// (requests that ran, requests that were met), as bits → the least that any such schedule pays.
using EverySchedule = std::map<std::pair<std::uint32_t, std::uint32_t>, BestBills>;

// REQUIRES: chains, no warm-up; machines of one group, interchangeable but for where data are.
[[nodiscard]] EverySchedule every_schedule(const Experiment& experiment, const Offered& offered);

}  // namespace sluice::reproduce
