// Finds the irregular regions of a network that no reduction shrinks any more, innermost first, and makes each one
// edge, until one edge is left. Used by series_parallel().
//
// The smallest region around a junction is forced: while two junctions lead into it, the later one must be inside,
// since an entry comes before everything else; likewise the earlier of two that it leads to. What is forced is looked
// into first, on a stack of clusters; a cluster that comes back to one below it belongs to the same region as all in
// between. So every junction enters one cluster, clusters only merge, and the whole takes O(edges · log edges).
#pragma once
#include <vector>

#include "domain/series_parallel/heaps.h"
#include "domain/series_parallel/network.h"
#include "domain/series_parallel/region.h"

namespace sluice::reduction {

class Regions {
 public:
  Regions(Network& network, Parts& parts);
  void contract_all();

 private:
  enum class Side { before, after };
  // A cluster is named by one of its junctions, the root of a union-find tree.
  struct Cluster {
    Heaps::Root before = Heaps::kNoHeap,
                after = Heaps::kNoHeap;    // edges into and out of it, outermost end nearest first
    Junction first = kNone, last = kNone;  // of the list of members, some removed
  };
  struct Neighbours {
    Junction nearest = kNone;
    bool several = false;
  };

  void open(Junction j);
  void step();
  void take_in(Junction j);
  void close(const Region& region);
  void follow_changes();
  [[nodiscard]] Junction cluster_of(Junction j);  // kNone if it is in none
  [[nodiscard]] bool is_empty(Cluster& cluster) const;
  [[nodiscard]] std::vector<Junction> members_of(Junction cluster) const;
  [[nodiscard]] Neighbours look(Junction cluster, Side side);
  [[nodiscard]] bool valid(Junction cluster, Side side, std::uint32_t key, EdgeId e);
  void push(Junction cluster, Side side, EdgeId e);
  [[nodiscard]] Junction outer_end(EdgeId e, Side side) const;
  [[nodiscard]] std::uint32_t key(EdgeId e, Side side) const;

  Network& network_;
  Contraction contraction_;
  Heaps heaps_;
  std::vector<Junction> parent_, next_member_;  // kNone: in no cluster; last of the list
  std::vector<Cluster> clusters_;
  std::vector<Junction> stack_, waiting_;
};

}  // namespace sluice::reduction
