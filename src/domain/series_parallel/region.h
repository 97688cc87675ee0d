// Region: junctions between an entry and an exit that nothing else leads into or out of, and what can be done with it.
// Used by regions.h, which finds them.
#pragma once
#include <vector>

#include "domain/series_parallel/network.h"
#include "domain/series_parallel/parts.h"

namespace sluice::reduction {

struct Region {
  std::vector<Junction> members;
  Junction entry = kNone, exit = kNone;
};

// Edges from members to the exit.
[[nodiscard]] std::vector<EdgeId> last_edges(const Network& network, const Region& region);

// Removes empty edges that say what a longer way says as well and may be all that keeps the region from being reduced;
// tells whether there were any. Large regions are left alone: what leads to what takes quadratic space.
bool drop_shortcuts(Network& network, const Region& region);

// Whether the region can become one edge. If its exit counts the edges into it, the region must hold one of them or
// all.
[[nodiscard]] bool closes(const Network& network, const Region& region);

// Makes the region one edge with an irregular part. REQUIRES: closes().
class Contraction {
 public:
  Contraction(Network& network, Parts& parts) : network_(network), parts_(parts), child_(network.edge_count(), kNone) {}
  void apply(const Region& region);

 private:
  void collect(const Region& region, bool whole_join);
  void add_edges(EdgeId to, Junction entry);
  [[nodiscard]] bool is_child(const Network::Edge& edge, const Region& region, bool counted) const;

  Network& network_;
  Parts& parts_;
  std::vector<std::uint32_t> child_;  // of each edge of the region: its place among the children, kNone if it is none
  std::vector<EdgeId> region_edges_, child_edges_;
  std::vector<Parts::Edge> edges_;
};

}  // namespace sluice::reduction
