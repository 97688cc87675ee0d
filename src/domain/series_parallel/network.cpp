#include "domain/series_parallel/network.h"

#include <algorithm>
#include <compare>
#include <numeric>

#include "base/check.h"

namespace sluice::reduction {

// Stage v starts at junction v and ends at junction size + v; edges 0 to size-1 are the stages.
Network::Network(const Graph& graph, const std::vector<std::uint32_t>& needed, Parts& parts)
    : parts_(parts), between_(graph.size() + graph.edge_count()) {
  const auto size = static_cast<std::uint32_t>(graph.size());
  junctions_.resize(2 * std::size_t{size});
  edges_.resize(size + graph.edge_count());
  queue_.reserve(junctions_.size());
  for (Graph::Node v = 0; v < size; ++v) junctions_[v].needed = needed[v];
  EdgeId next = size;
  for (Graph::Node v = 0; v < size; ++v) {
    edges_[v].part = v;
    attach(v, v, size + v);
    for (const Graph::Node before : graph.predecessors(v)) attach(next++, size + before, v);
  }
  std::vector<Junction> all(junctions_.size());
  std::iota(all.begin(), all.end(), 0);
  bundle(all);
}

std::vector<Junction> Network::number() {
  changed_.clear();
  std::vector<Junction> order;
  std::vector<std::uint32_t> waiting(junctions_.size());
  for (Junction j = 0; j < junctions_.size(); ++j) {
    waiting[j] = junctions_[j].in;
    if (waiting[j] == 0 && junctions_[j].out > 0) order.push_back(j);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    junctions_[order[i]].position = static_cast<std::uint32_t>(i);
    for (const EdgeId e : edges_out_of(order[i])) {
      if (--waiting[edges_[e].head] == 0) order.push_back(edges_[e].head);
    }
  }
  return order;
}

void Network::touch(Junction j) {
  if (junctions_[j].queued) return;
  junctions_[j].queued = true;
  queue_.push_back(j);
}

// Where an edge between the same ends exists already, the two become one.
void Network::attach(EdgeId e, Junction tail, Junction head) {
  touch(tail);
  touch(head);
  if (junctions_[head].needed > 0) {
    ++count_between_[key(tail, head)];
  } else {
    EdgeId& entered = between_.at(tail, head);
    if (entered != kNone && edges_[entered].tail == tail && edges_[entered].head == head) {
      edges_[entered].part = parts_.parallel(edges_[entered].part, edges_[e].part);
      changed_.push_back(entered);  // it stands for both now, also where only the other was noted
      return;
    }
    entered = e;
  }
  Edge& edge = edges_[e];
  JunctionData& from = junctions_[tail];
  JunctionData& to = junctions_[head];
  edge = {.tail = tail, .head = head, .part = edge.part, .next_out = from.first_out, .next_in = to.first_in};
  if (from.first_out != kNone) edges_[from.first_out].previous_out = e;
  if (to.first_in != kNone) edges_[to.first_in].previous_in = e;
  from.first_out = to.first_in = e;
  ++from.out;
  ++to.in;
  changed_.push_back(e);
}

void Network::detach(EdgeId e) {
  Edge& edge = edges_[e];
  touch(edge.tail);
  touch(edge.head);
  JunctionData& from = junctions_[edge.tail];
  JunctionData& to = junctions_[edge.head];
  if (to.needed > 0) --count_between_[key(edge.tail, edge.head)];
  (edge.previous_out == kNone ? from.first_out : edges_[edge.previous_out].next_out) = edge.next_out;
  (edge.previous_in == kNone ? to.first_in : edges_[edge.previous_in].next_in) = edge.next_in;
  if (edge.next_out != kNone) edges_[edge.next_out].previous_out = edge.previous_out;
  if (edge.next_in != kNone) edges_[edge.next_in].previous_in = edge.previous_in;
  --from.out;
  --to.in;
  edge.tail = edge.head = kNone;
}

void Network::remove(EdgeId e) {
  detach(e);
}

void Network::restore(EdgeId e, Edge as) {
  edges_[e].part = as.part;
  attach(e, as.tail, as.head);
}

void Network::reduce() {
  while (!queue_.empty()) {
    const Junction j = queue_.back();
    queue_.pop_back();
    junctions_[j].queued = false;
    if (!reduce_series(j) && !contract_into_tail(j) && !contract_into_head(j)) join_branches(j);
  }
}

// x → j → y with nothing else at j.
bool Network::reduce_series(Junction j) {
  if (junctions_[j].in != 1 || junctions_[j].out != 1) return false;
  const EdgeId first = junctions_[j].first_in, second = junctions_[j].first_out;
  const Junction tail = edges_[first].tail, head = edges_[second].head;
  detach(first);
  detach(second);
  edges_[first].part = parts_.series(edges_[first].part, edges_[second].part);
  attach(first, tail, head);
  return true;
}

// j waits for one empty edge alone: it is the same instant as the edge's tail.
bool Network::contract_into_tail(Junction j) {
  if (junctions_[j].in != 1 || edges_[junctions_[j].first_in].part != kEmpty) return false;
  const Junction tail = edges_[junctions_[j].first_in].tail;
  detach(junctions_[j].first_in);
  move_out_edges(j, tail);
  return true;
}

// Only the head of one empty edge waits for j: it may as well wait for what j waits for. A head that counts never gets
// here: what it counts ends one branch each, and such a junction was a series.
bool Network::contract_into_head(Junction j) {
  if (junctions_[j].out != 1 || edges_[junctions_[j].first_out].part != kEmpty) return false;
  const Junction head = edges_[junctions_[j].first_out].head;
  CHECK(junctions_[head].needed == 0);
  detach(junctions_[j].first_out);
  move_in_edges(j, head);
  return true;
}

// j waits for some of its edges, and all of them come from one fork: they are joined at once.
void Network::join_branches(Junction j) {
  if (junctions_[j].needed == 0 || junctions_[j].in == 0) return;
  const EdgeId kept = junctions_[j].first_in;
  const Junction tail = edges_[kept].tail;
  if (counted(tail, j) != junctions_[j].in) return;
  std::vector<Part> branches;
  for (const EdgeId e : edges_into(j)) {
    branches.push_back(edges_[e].part);
    detach(e);
  }
  edges_[kept].part = parts_.join(branches, junctions_[j].needed);
  junctions_[j].needed = 0;
  attach(kept, tail, j);
}

void Network::move_out_edges(Junction from, Junction to) {
  for (const EdgeId e : edges_out_of(from)) {
    const Junction head = edges_[e].head;
    detach(e);
    attach(e, to, head);
  }
}

void Network::move_in_edges(Junction from, Junction to) {
  for (const EdgeId e : edges_into(from)) {
    const Junction tail = edges_[e].tail;
    detach(e);
    attach(e, tail, to);
  }
}

void Network::bundle(std::span<const Junction> candidates) {
  bundle(candidates, Side::in);
  bundle(candidates, Side::out);
}

bool Network::neighbours(Junction j, Side side, std::vector<std::uint32_t>& out) const {
  const bool in = side == Side::in;
  if (in) out.push_back(junctions_[j].needed);
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const EdgeId e : in ? edges_into(j) : edges_out_of(j)) {
    if (edges_[e].part != kEmpty) return false;
    if (!in && junctions_[edges_[e].head].needed > 0) return false;  // a head that counts wants every branch by itself
    out.push_back(in ? edges_[e].tail : edges_[e].head);
  }
  std::sort(out.begin() + first, out.end());
  return true;
}

void Network::bundle(std::span<const Junction> candidates, Side side) {
  struct Candidate {
    Junction junction;
    std::uint32_t first, last;
  };
  std::vector<std::uint32_t> lists;
  std::vector<Candidate> sorted;
  for (const Junction j : candidates) {
    if (junctions_[j].in == 0 && junctions_[j].out == 0) continue;
    const std::size_t first = lists.size();
    if (neighbours(j, side, lists)) {
      sorted.push_back({j, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(lists.size())});
    } else {
      lists.resize(first);
    }
  }
  const auto list = [&](const Candidate& c) { return std::span(lists).subspan(c.first, c.last - c.first); };
  // The first of equals is kept: the earliest of those that wait, the latest of those that are waited for, so that its
  // position suits the edges of all.
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Candidate& a, const Candidate& b) {
    const auto order =
        std::lexicographical_compare_three_way(list(a).begin(), list(a).end(), list(b).begin(), list(b).end());
    if (order != 0) return order < 0;
    return side == Side::in ? position(a.junction) < position(b.junction) : position(a.junction) > position(b.junction);
  });
  for (std::size_t i = 0, kept = 0; i < sorted.size(); ++i) {
    if (i == kept) continue;
    if (std::ranges::equal(list(sorted[kept]), list(sorted[i]))) {
      merge(sorted[kept].junction, sorted[i].junction, side);
    } else {
      kept = i;
    }
  }
}

void Network::merge(Junction kept, Junction other, Side side) {
  for (const EdgeId e : side == Side::in ? edges_into(other) : edges_out_of(other)) detach(e);
  if (side == Side::in) {
    move_out_edges(other, kept);
  } else {
    move_in_edges(other, kept);
  }
}

}  // namespace sluice::reduction
