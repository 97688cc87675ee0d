#include "domain/series_parallel/regions.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::reduction {

Regions::Regions(Network& network, Parts& parts)
    : network_(network),
      contraction_(network, parts),
      parent_(network.junction_count(), kNone),
      next_member_(network.junction_count(), kNone),
      clusters_(network.junction_count()) {}

void Regions::contract_all() {
  waiting_ = network_.number();
  std::reverse(waiting_.begin(), waiting_.end());
  while (!waiting_.empty()) {
    const Junction j = waiting_.back();
    waiting_.pop_back();
    if (!network_.inner(j) || parent_[j] != kNone) continue;
    open(j);
    while (!stack_.empty()) step();
  }
}

void Regions::open(Junction j) {
  parent_[j] = j;
  next_member_[j] = kNone;
  clusters_[j] = {.first = j, .last = j};
  stack_.push_back(j);
  for (const EdgeId e : network_.edges_into(j)) push(j, Side::before, e);
  for (const EdgeId e : network_.edges_out_of(j)) push(j, Side::after, e);
}

void Regions::step() {
  const Junction cluster = stack_.back();
  if (is_empty(clusters_[cluster])) return stack_.pop_back();
  const Neighbours before = look(cluster, Side::before);
  if (before.several) return take_in(before.nearest);
  const Neighbours after = look(cluster, Side::after);
  if (after.several) return take_in(after.nearest);
  close({.members = members_of(cluster), .entry = before.nearest, .exit = after.nearest});
}

// REQUIRES: j is outside the cluster on top of the stack and must be in its region.
void Regions::take_in(Junction j) {
  const Junction into = cluster_of(j);
  if (into == kNone) return open(j);
  while (stack_.back() != into) {
    const Junction from = stack_.back();
    stack_.pop_back();
    CHECK(!stack_.empty());
    Cluster& target = clusters_[into];
    target.before = heaps_.merge(target.before, clusters_[from].before);
    target.after = heaps_.merge(target.after, clusters_[from].after);
    next_member_[target.last] = clusters_[from].first;
    target.last = clusters_[from].last;
    parent_[from] = into;
  }
}

void Regions::close(const Region& region) {
  if (!closes(network_, region)) return take_in(region.exit);
  stack_.pop_back();
  if (drop_shortcuts(network_, region)) {  // the network is another one: start again with what is left of the region
    for (const Junction j : region.members) parent_[j] = kNone;
    waiting_.insert(waiting_.end(), region.members.rbegin(), region.members.rend());
  } else {
    contraction_.apply(region);
  }
  network_.reduce();
  follow_changes();
}

void Regions::follow_changes() {
  for (const EdgeId e : network_.take_changed()) {
    if (!network_.present(e)) continue;
    const Junction from = cluster_of(network_.edge(e).tail), to = cluster_of(network_.edge(e).head);
    if (from != kNone) push(from, Side::after, e);
    if (to != kNone) push(to, Side::before, e);
  }
}

Junction Regions::cluster_of(Junction j) {
  if (parent_[j] == kNone) return kNone;
  while (parent_[j] != j) j = parent_[j] = parent_[parent_[j]];
  return j;
}

// Reductions may have removed all members.
bool Regions::is_empty(Cluster& cluster) const {
  while (cluster.first != kNone && !network_.inner(cluster.first)) cluster.first = next_member_[cluster.first];
  return cluster.first == kNone;
}

std::vector<Junction> Regions::members_of(Junction cluster) const {
  std::vector<Junction> members;
  for (Junction j = clusters_[cluster].first; j != kNone; j = next_member_[j]) {
    if (network_.inner(j)) members.push_back(j);
  }
  return members;
}

// Heaps are cleaned as they are read: edges that were removed, changed or are inside by now are dropped, and all but
// one to the same junction.
Regions::Neighbours Regions::look(Junction cluster, Side side) {
  Heaps::Root& heap = side == Side::before ? clusters_[cluster].before : clusters_[cluster].after;
  Neighbours found;
  EdgeId nearest = kNone;
  for (; heap != Heaps::kNoHeap && !found.several;) {
    const EdgeId e = heaps_.value(heap);
    if (valid(cluster, side, heaps_.key(heap), e)) {
      if (nearest != kNone && outer_end(e, side) != found.nearest) {
        found.several = true;
        break;
      }
      nearest = e;
      found.nearest = outer_end(e, side);
    }
    heaps_.pop(heap);
  }
  CHECK(nearest != kNone);
  push(cluster, side, nearest);
  return found;
}

bool Regions::valid(Junction cluster, Side side, std::uint32_t expected_key, EdgeId e) {
  if (!network_.present(e) || key(e, side) != expected_key) return false;
  const Side other = side == Side::before ? Side::after : Side::before;
  return cluster_of(outer_end(e, other)) == cluster && cluster_of(outer_end(e, side)) != cluster;
}

void Regions::push(Junction cluster, Side side, EdgeId e) {
  heaps_.push(side == Side::before ? clusters_[cluster].before : clusters_[cluster].after, key(e, side), e);
}

Junction Regions::outer_end(EdgeId e, Side side) const {
  return side == Side::before ? network_.edge(e).tail : network_.edge(e).head;
}

// Before a cluster the latest is nearest, after it the earliest.
std::uint32_t Regions::key(EdgeId e, Side side) const {
  const std::uint32_t position = network_.position(outer_end(e, side));
  return side == Side::before ? ~position : position;
}

}  // namespace sluice::reduction
