// Bounds on what any scheduler could reach in an experiment: they know the arrivals and the luck of every batch, which
// no scheduler does. Used by `sluice reproduce esg` to say what is left to gain, and by tests, since no run may beat
// them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/money.h"
#include "reproduce/bounds/offered.h"

namespace sluice::reproduce {

// What became of a request in the run that is compared.
struct Outcome {
  bool ran = false;     // was in a batch at all
  bool met = false;     // its deadline
  bool billed = false;  // what it paid is in the figure compared
};

// The least dollars that the billed requests can have paid together, given which requests were met, whatever the
// scheduler. With all measured requests billed this bounds the dollars of a run; with only the met ones, their own.
//
// Why it holds. Share the cost of every batch equally among its members that are met or not billed. Those that are
// billed and not met pay nothing then, and the billed ones together no more than in truth. So a met one pays for every
// stage at least (price of what the batch holds) × (transfer + time) / (members that share), and its own times add up
// to no more than its objective. The sum over the billed met requests of the least such payment is the bound, with
// every stage of every request relaxed to:
//  - a batch of one has the request's own luck; in larger ones the luckiest is oldest of all that could be in it;
//  - n members only if n could be there together for as long as the batch takes: each has arrived and run its earlier
//    stages as fast as luck allows, and if met still has time for its later ones. Everyone may be in any batch of the
//    same function, again for every request that asks, and those that are not met wait forever;
//  - inputs are where the batch runs, and those of the others weigh nothing; machines are always free.
// Known caveats: tight for a few requests, a quarter to a third low for a long run, since everyone finds the best
// company and the luckiest oldest member for himself (docs/decisions/bounds.md). REQUIRES: an outcome per request.
[[nodiscard]] Dollars least_cost(const Offered& offered, std::span<const Outcome> outcomes);
// Of every billed met request on its own; 0 for the others. Infinite if the request cannot have been met.
[[nodiscard]] std::vector<Dollars> least_costs(const Offered& offered, std::span<const Outcome> outcomes);

struct HitBound {
  std::uint64_t requests = 0;              // measured
  std::uint64_t hits = 0;                  // at most
  std::uint64_t reachable = 0;             // could be met on an empty cluster
  double slice_share = 0, vcpu_share = 0;  // of the cluster that meeting all reachable ones takes at least
};
// The most measured requests that can be met. The work of a met request lies between its arrival and its deadline, and
// its least slice and vCPU time follow as its least cost does above, when anybody may be late; of requests that lie in
// an interval only so many can be met as its slices and vCPUs suffice for. Intervals: the whole span, halves, quarters,
// ….
[[nodiscard]] HitBound most_hits(const Offered& offered);

}  // namespace sluice::reproduce
