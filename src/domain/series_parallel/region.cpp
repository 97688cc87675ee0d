#include "domain/series_parallel/region.h"

#include "base/check.h"

namespace sluice::reduction {

std::vector<EdgeId> last_edges(const Network& network, const Region& region) {
  std::vector<EdgeId> list;
  for (const Junction member : region.members) {
    for (const EdgeId e : network.edges_out_of(member)) {
      if (network.edge(e).head == region.exit) list.push_back(e);
    }
  }
  return list;
}

bool closes(const Network& network, const Region& region) {
  if (network.needed(region.exit) == 0) return true;
  const std::size_t inside = last_edges(network, region).size();
  return inside == 1 || inside + network.counted(region.entry, region.exit) == network.in_degree(region.exit);
}

void Contraction::apply(const Region& region) {
  const std::uint32_t needed = network_.needed(region.exit);
  const bool whole_join = needed > 0 && last_edges(network_, region).size() > 1;
  collect(region, whole_join);
  for (const EdgeId e : child_edges_) add_edges(e, region.entry);
  std::vector<Part> children;
  for (const EdgeId e : child_edges_) children.push_back(network_.edge(e).part);
  const Part part = parts_.irregular(children, std::move(edges_), whole_join ? needed : 0);
  for (const EdgeId e : region_edges_) {
    child_[e] = kNone;
    network_.remove(e);
  }
  if (whole_join) network_.wait_for_all(region.exit);
  network_.restore(region_edges_.front(), {.tail = region.entry, .head = region.exit, .part = part});
  edges_.clear();
}

void Contraction::collect(const Region& region, bool whole_join) {
  region_edges_.clear();
  child_edges_.clear();
  bool counted = whole_join;
  for (const Junction j : region.members) {
    for (const EdgeId e : network_.edges_into(j)) region_edges_.push_back(e);
    counted = counted || network_.needed(j) > 0;
  }
  if (whole_join) {  // all edges into the exit, so also those from the entry
    for (const EdgeId e : network_.edges_into(region.exit)) region_edges_.push_back(e);
  } else {
    const std::vector<EdgeId> last = last_edges(network_, region);
    region_edges_.insert(region_edges_.end(), last.begin(), last.end());
  }
  for (const EdgeId e : region_edges_) {
    if (!is_child(network_.edge(e), region, counted)) continue;
    child_[e] = static_cast<std::uint32_t>(child_edges_.size());
    child_edges_.push_back(e);
  }
}

// Empty edges are edges between children, except where one stands for a branch that is counted: into a junction that
// counts, from before the region; and to the exit, if it counts or if some junction before it does and so does not
// imply what it did not wait for.
bool Contraction::is_child(const Network::Edge& edge, const Region& region, bool counted) const {
  if (edge.part != kEmpty) return true;
  if (edge.head == region.exit) return counted;
  return edge.tail == region.entry && network_.needed(edge.head) > 0;
}

// The edges into child `to`: from what ends at its tail, directly or over one empty edge. No more than the graph has,
// as each stands for other stages that follow each other.
void Contraction::add_edges(EdgeId to, Junction entry) {
  const Junction tail = network_.edge(to).tail;
  if (tail == entry) return;
  for (const EdgeId e : network_.edges_into(tail)) {
    if (child_[e] != kNone) {
      edges_.push_back({child_[e], child_[to]});
    } else if (network_.edge(e).tail != entry) {
      for (const EdgeId before : network_.edges_into(network_.edge(e).tail)) {
        CHECK(child_[before] != kNone);  // no junction has empty edges on both sides
        edges_.push_back({child_[before], child_[to]});
      }
    }
  }
}

}  // namespace sluice::reduction
