// Network: a workflow with stages as edges between junctions (the instants before and after them), on which
// series_parallel() works. It shrinks by reductions until one edge, the whole tree, is left; where no reduction
// applies, regions.h takes over.
//
// One thing to know: an empty edge joins only an end of stages with a start of stages. No junction has empty edges on
// both sides, and reductions keep it so.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/graph.h"
#include "domain/series_parallel/edge_list.h"
#include "domain/series_parallel/edge_table.h"
#include "domain/series_parallel/parts.h"

namespace sluice::reduction {

class Network {
 public:
  using Edge = NetworkEdge;

  // `needed` by stage: how many predecessors it waits for if not all, else 0.
  Network(const Graph& graph, const std::vector<std::uint32_t>& needed, Parts& parts);

  // Applies every reduction until none is left.
  void reduce();
  // Junctions among `candidates` that wait for the same ones over empty edges become one; so do those that are waited
  // for by the same ones. {a, b} → {c, d} becomes two stages into one junction and two out of it.
  void bundle(std::span<const Junction> candidates);

  [[nodiscard]] std::size_t junction_count() const { return junctions_.size(); }
  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }
  [[nodiscard]] const Edge& edge(EdgeId e) const { return edges_[e]; }
  [[nodiscard]] bool present(EdgeId e) const { return edges_[e].tail != kNone; }
  // Neither removed nor start or end of the workflow.
  [[nodiscard]] bool inner(Junction j) const { return junctions_[j].in > 0 && junctions_[j].out > 0; }
  [[nodiscard]] std::uint32_t in_degree(Junction j) const { return junctions_[j].in; }
  // How many edges into `j` it waits for if not all, else 0. Such edges are joined all at once or not at all.
  [[nodiscard]] std::uint32_t needed(Junction j) const { return junctions_[j].needed; }
  // The number of edges from `tail` to `head`. REQUIRES: needed(head) > 0.
  [[nodiscard]] std::uint32_t counted(Junction tail, Junction head) const {
    const auto found = count_between_.find(key(tail, head));
    return found == count_between_.end() ? 0 : found->second;
  }
  // Predecessors have lower positions. REQUIRES: number() was called.
  [[nodiscard]] std::uint32_t position(Junction j) const { return junctions_[j].position; }
  // A loop over them may remove the edge it is at.
  [[nodiscard]] EdgeList edges_into(Junction j) const {
    return {edges_.data(), &Edge::next_in, junctions_[j].first_in};
  }
  [[nodiscard]] EdgeList edges_out_of(Junction j) const {
    return {edges_.data(), &Edge::next_out, junctions_[j].first_out};
  }

  // Gives junctions positions, which later changes keep valid; returns them in that order.
  std::vector<Junction> number();
  void remove(EdgeId e);
  // REQUIRES: `e` was removed.
  void restore(EdgeId e, Edge as);
  void wait_for_all(Junction j) { junctions_[j].needed = 0; }
  // The edges that were added or got another end since the last call or number(); some may have been removed again.
  [[nodiscard]] std::vector<EdgeId> take_changed() { return std::exchange(changed_, {}); }

 private:
  struct JunctionData {
    EdgeId first_in = kNone, first_out = kNone;
    std::uint32_t in = 0, out = 0;
    std::uint32_t needed = 0;
    std::uint32_t position = 0;
    bool queued = false;
  };
  enum class Side { in, out };

  void attach(EdgeId e, Junction tail, Junction head);
  void detach(EdgeId e);
  void touch(Junction j);
  bool reduce_series(Junction j);
  bool contract_into_tail(Junction j);
  bool contract_into_head(Junction j);
  void join_branches(Junction j);
  void move_out_edges(Junction from, Junction to);
  void move_in_edges(Junction from, Junction to);
  void bundle(std::span<const Junction> candidates, Side side);
  // What j waits for (in) or is waited for by (out), if only over empty edges.
  [[nodiscard]] bool neighbours(Junction j, Side side, std::vector<std::uint32_t>& out) const;
  void merge(Junction kept, Junction other, Side side);
  [[nodiscard]] static std::uint64_t key(Junction tail, Junction head) { return (std::uint64_t{tail} << 32) | head; }

  Parts& parts_;
  std::vector<Edge> edges_;
  std::vector<JunctionData> junctions_;
  std::vector<Junction> queue_;
  std::vector<EdgeId> changed_;
  EdgeTable between_;  // edges into junctions that wait for all; one that is entered may have been removed or changed
  // How many edges lead into a junction that waits for fewer, by both ends. Only looked up, never iterated.
  std::unordered_map<std::uint64_t, std::uint32_t> count_between_;
};

}  // namespace sluice::reduction
