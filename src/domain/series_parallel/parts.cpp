#include "domain/series_parallel/parts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>

#include "base/check.h"

namespace sluice::reduction {
namespace {

using Tree = SeriesParallelTree;
using Kind = Tree::Kind;

// Positions 0 to keys.size()-1 in topological order; among the ready ones the lowest key first, then the position.
std::vector<std::uint32_t> topological(const std::vector<Graph::Node>& keys, const std::vector<Tree::Edge>& edges) {
  std::vector<std::uint32_t> waiting(keys.size(), 0), start(keys.size() + 1, 0), order;
  for (const Tree::Edge& edge : edges) {  // sorted
    ++waiting[edge.to];
    ++start[edge.from + 1];
  }
  for (std::size_t i = 0; i < keys.size(); ++i) start[i + 1] += start[i];
  using Ready = std::pair<Graph::Node, std::uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (waiting[i] == 0) ready.emplace(keys[i], i);
  }
  while (!ready.empty()) {
    const std::uint32_t i = ready.top().second;
    ready.pop();
    order.push_back(i);
    for (std::uint32_t e = start[i]; e < start[i + 1]; ++e) {
      if (--waiting[edges[e].to] == 0) ready.emplace(keys[edges[e].to], edges[e].to);
    }
  }
  CHECK(order.size() == keys.size());
  return order;
}

std::uint32_t count_last(std::size_t children, const std::vector<Tree::Edge>& edges) {
  std::vector<bool> left(children, false);
  for (const Tree::Edge& edge : edges) left[edge.from] = true;
  return static_cast<std::uint32_t>(std::count(left.begin(), left.end(), false));
}

// Of the stages with which each node starts the lowest; kNone for empty ones.
std::vector<Graph::Node> lowest_first(const Tree& tree) {
  std::vector<Graph::Node> first(tree.nodes.size(), Graph::kNone);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Tree::Node& node = tree.nodes[i];
    const std::span<const Tree::Index> children = tree.children_of(node);
    if (node.kind == Kind::stage) first[i] = node.stage;
    if (node.kind == Kind::series) first[i] = first[children.front()];
    if (node.kind == Kind::parallel) {
      for (const Tree::Index child : children) first[i] = std::min(first[i], first[child]);
    }
    if (node.kind == Kind::irregular) {
      std::vector<bool> waits(children.size(), false);
      for (const Tree::Edge& edge : tree.edges_of(node)) waits[edge.to] = true;
      for (std::size_t c = 0; c < children.size(); ++c) {
        if (!waits[c]) first[i] = std::min(first[i], first[children[c]]);
      }
    }
  }
  return first;
}

// Tells parallel and irregular nodes which stage joins them: from the root down, since what comes after a node is known
// by its parent.
void name_joins(Tree& tree) {
  const std::vector<Graph::Node> first = lowest_first(tree);
  std::vector<Graph::Node> after(tree.nodes.size(), Graph::kNone);
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    Tree::Node& node = tree.nodes[i];
    const std::span<const Tree::Index> children = tree.children_of(node);
    if (node.kind == Kind::parallel || node.kind == Kind::irregular) node.stage = after[i];
    if (node.kind == Kind::series) {
      for (std::size_t c = 0; c + 1 < children.size(); ++c) after[children[c]] = first[children[c + 1]];
      after[children.back()] = after[i];
      continue;
    }
    for (const Tree::Edge& edge : tree.edges_of(node)) {
      Graph::Node& next = after[children[edge.from]];
      next = std::min(next, first[children[edge.to]]);
    }
    for (const Tree::Index child : children) {
      if (after[child] == Graph::kNone) after[child] = after[i];
    }
  }
}

}  // namespace

Parts::Parts(const std::vector<std::uint32_t>& needed) {
  items_.reserve(2 * needed.size());
  for (Graph::Node v = 0; v < needed.size(); ++v) items_.push_back({.lowest = v, .needed = needed[v]});
}

Part Parts::add(Item item, std::span<const Part> children) {
  item.first_child = static_cast<std::uint32_t>(children_.size());
  item.child_count = static_cast<std::uint32_t>(children.size());
  item.lowest = Graph::kNone;
  for (const Part child : children) item.lowest = std::min(item.lowest, lowest(child));
  children_.insert(children_.end(), children.begin(), children.end());
  items_.push_back(item);
  return static_cast<Part>(items_.size() - 1);
}

Part Parts::series(Part first, Part second) {
  if (first == kEmpty) return second;
  if (second == kEmpty) return first;
  return add({.kind = Kind::series}, std::array{first, second});
}

Part Parts::parallel(Part a, Part b) {
  return add({.kind = Kind::parallel}, std::array{a, b});
}

Part Parts::join(std::span<const Part> branches, std::uint32_t needed) {
  return add({.kind = Kind::parallel, .needed = needed}, branches);
}

Part Parts::irregular(std::span<const Part> children, std::vector<Edge> edges, std::uint32_t needed) {
  std::sort(edges.begin(), edges.end());
  std::vector<Graph::Node> keys;
  for (const Part child : children) keys.push_back(lowest(child));
  const std::vector<std::uint32_t> order = topological(keys, edges);
  std::vector<std::uint32_t> place(order.size());
  std::vector<Part> ordered;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    ordered.push_back(children[order[i]]);
  }
  for (Edge& edge : edges) edge = {place[edge.from], place[edge.to]};
  std::sort(edges.begin(), edges.end());
  const Item item{.kind = Kind::irregular,
                  .needed = needed == 0 ? count_last(children.size(), edges) : needed,
                  .first_edge = static_cast<std::uint32_t>(edges_.size()),
                  .edge_count = static_cast<std::uint32_t>(edges.size())};
  edges_.insert(edges_.end(), edges.begin(), edges.end());
  return add(item, ordered);
}

// A series in a series, and branches beside branches where both wait for all, are one.
bool Parts::flattens(const Item& outer, Part inner) const {
  if (inner == kEmpty || items_[inner].kind != outer.kind) return false;
  return outer.kind == Kind::series || (outer.kind == Kind::parallel && outer.needed == 0 && items_[inner].needed == 0);
}

std::vector<bool> Parts::find_absorbed() const {
  std::vector<bool> absorbed(items_.size(), false);
  for (const Item& item : items_) {
    for (const Part child : children_of(item)) {
      if (flattens(item, child)) absorbed[child] = true;
    }
  }
  return absorbed;
}

std::vector<Part> Parts::flat_children(Part part, const std::vector<bool>& absorbed) const {
  std::vector<Part> flat, open = {part};
  while (!open.empty()) {
    const Part next = open.back();
    open.pop_back();
    if (next == part || (next != kEmpty && absorbed[next])) {
      const std::span<const Part> children = children_of(items_[next]);
      open.insert(open.end(), children.rbegin(), children.rend());
    } else {
      flat.push_back(next);
    }
  }
  if (items_[part].kind == Kind::parallel) {
    std::stable_sort(flat.begin(), flat.end(), [&](Part a, Part b) { return lowest(a) < lowest(b); });
  }
  return flat;
}

Tree Parts::finish() const {
  const std::vector<bool> absorbed = find_absorbed();
  std::vector<Tree::Index> index(items_.size());
  Tree tree;
  tree.edges = edges_;
  for (Part part = 0; part < items_.size(); ++part) {
    if (absorbed[part]) continue;
    const Item& item = items_[part];
    Tree::Node node{.kind = item.kind, .stage = part, .needed = item.needed};
    if (item.kind != Kind::stage) {
      node.first_child = static_cast<std::uint32_t>(tree.children.size());
      for (const Part child : flat_children(part, absorbed)) {
        if (child == kEmpty) tree.nodes.push_back({.kind = Kind::empty, .stage = Graph::kNone});
        tree.children.push_back(child == kEmpty ? static_cast<Tree::Index>(tree.nodes.size() - 1) : index[child]);
      }
      node.stage = Graph::kNone;
      node.child_count = static_cast<std::uint32_t>(tree.children.size()) - node.first_child;
      if (item.kind == Kind::parallel && item.needed == 0) node.needed = node.child_count;
      node.first_edge = item.first_edge;
      node.edge_count = item.edge_count;
    }
    index[part] = static_cast<Tree::Index>(tree.nodes.size());
    tree.nodes.push_back(node);
  }
  name_joins(tree);
  return tree;
}

}  // namespace sluice::reduction
