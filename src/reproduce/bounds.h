// Bounds on what any scheduler could reach in an experiment: they know the arrivals and the luck of every batch, which
// no scheduler does. Used by `sluice reproduce esg` to say what is left to gain, and by tests, since no run may beat
// them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/money.h"
#include "reproduce/offered.h"

namespace sluice::reproduce {

// What became of a request in the run that is compared.
enum class Part : std::uint8_t {
  absent,     // never ran
  companion,  // may have shared batches; what it paid is not in the figure compared
  late,       // what it paid is in the figure, though it was not met
  met,
};

// The least dollars that the met and late requests can have paid together, whatever the scheduler. With warm-up
// requests as companions and everything else as it ended, this bounds the dollars of a run; with all but the met ones
// as companions, the dollars of the met ones alone.
//
// Why it holds. Share the cost of every batch equally among its members that are met or companions: late ones pay it in
// full otherwise, so the met pay no more like that than met and late ones paid in truth. Then a met request pays for
// every stage at least (price of what the batch holds) × (transfer + time) / (such members), and its own times add up
// to no more than its objective. The sum over the met requests of the least such payment is the bound, with every stage
// of every request relaxed to:
//  - a batch of one has the request's own luck; in larger ones the luckiest is oldest of all that could be in it;
//  - n members only if n could be there together for as long as the batch takes: each has arrived and run its earlier
//    stages as fast as luck allows, and if met still has time for its later ones. Everyone may be in any batch of the
//    same function, again for every request that asks, and those that are not met wait forever;
//  - inputs are where the batch runs, and those of the others weigh nothing; machines are always free.
// Known caveats: loose by a tenth or so, since lucky requests and good company are shared by everyone.
// REQUIRES: a part per request.
[[nodiscard]] Dollars least_cost(const Offered& offered, std::span<const Part> parts);
// Of every met request on its own; 0 for the others. Infinite if the request cannot have been met.
[[nodiscard]] std::vector<Dollars> least_costs(const Offered& offered, std::span<const Part> parts);

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
