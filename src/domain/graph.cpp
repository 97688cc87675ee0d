#include "domain/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "base/check.h"

namespace sluice {
namespace {

using Node = Graph::Node;

// Lists of nodes one after the other: list i is nodes[start[i]] … nodes[start[i + 1] - 1].
struct Lists {
  std::vector<std::uint32_t> start = {0};
  std::vector<Node> nodes;
  [[nodiscard]] std::size_t size() const { return start.size() - 1; }
};

Lists flatten(const std::vector<std::vector<Node>>& lists) {
  Lists flat;
  flat.start.reserve(lists.size() + 1);
  for (const std::vector<Node>& list : lists) {
    flat.nodes.insert(flat.nodes.end(), list.begin(), list.end());
    flat.start.push_back(static_cast<std::uint32_t>(flat.nodes.size()));
  }
  return flat;
}

// Edges turned round. The result's lists are ascending, equal entries side by side.
Lists transpose(const Lists& lists) {
  const std::size_t size = lists.size();
  Lists turned{.start = std::vector<std::uint32_t>(size + 1), .nodes = std::vector<Node>(lists.nodes.size())};
  for (const Node to : lists.nodes) {
    CHECK(to < size);
    ++turned.start[to + 1];
  }
  for (std::size_t i = 0; i < size; ++i) turned.start[i + 1] += turned.start[i];
  std::vector<std::uint32_t> next(turned.start.begin(), turned.start.end() - 1);
  for (Node from = 0; from < size; ++from) {
    for (std::uint32_t i = lists.start[from]; i < lists.start[from + 1]; ++i) {
      turned.nodes[next[lists.nodes[i]]++] = from;
    }
  }
  return turned;
}

// REQUIRES: equal entries of a list are side by side.
void drop_duplicates(Lists& lists) {
  std::uint32_t kept = 0;
  for (std::size_t i = 0, begin = 0; i < lists.size(); ++i) {
    const std::uint32_t first = kept;
    for (std::size_t j = begin; j < lists.start[i + 1]; ++j) {
      const Node node = lists.nodes[j];
      if (kept == first || lists.nodes[kept - 1] != node) lists.nodes[kept++] = node;
    }
    begin = lists.start[i + 1];
    lists.start[i + 1] = kept;
  }
  lists.nodes.resize(kept);
}

}  // namespace

std::variant<Graph, std::vector<Node>> Graph::make(const std::vector<std::vector<Node>>& predecessors) {
  Lists successors = transpose(flatten(predecessors));
  drop_duplicates(successors);
  Lists ascending = transpose(successors);
  Graph graph;
  graph.predecessor_start_ = std::move(ascending.start);
  graph.predecessors_ = std::move(ascending.nodes);
  graph.successor_start_ = std::move(successors.start);
  graph.successors_ = std::move(successors.nodes);
  graph.sort();
  if (graph.order_.size() < predecessors.size()) return graph.find_cycle();
  return graph;
}

std::variant<Graph, std::vector<Node>> Graph::make(const Workflow& workflow) {
  std::vector<std::vector<Node>> predecessors(workflow.size());
  for (std::size_t i = 0; i < workflow.size(); ++i) {
    for (const StageId stage : workflow.stages[i].after) predecessors[i].push_back(stage.value());
  }
  return make(predecessors);
}

std::vector<Node> Graph::entries() const {
  std::vector<Node> nodes;
  for (Node v = 0; v < size(); ++v) {
    if (predecessors(v).empty()) nodes.push_back(v);
  }
  return nodes;
}

std::vector<Node> Graph::exits() const {
  std::vector<Node> nodes;
  for (Node v = 0; v < size(); ++v) {
    if (successors(v).empty()) nodes.push_back(v);
  }
  return nodes;
}

void Graph::sort() {
  const std::size_t size = predecessor_start_.size() - 1;
  std::vector<std::size_t> waiting(size);
  std::priority_queue<Node, std::vector<Node>, std::greater<>> ready;
  for (Node v = 0; v < size; ++v) {
    waiting[v] = predecessors(v).size();
    if (waiting[v] == 0) ready.push(v);
  }
  order_.reserve(size);
  while (!ready.empty()) {
    const Node v = ready.top();
    ready.pop();
    order_.push_back(v);
    for (const Node next : successors(v)) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
}

std::vector<Node> Graph::find_cycle() const {
  const std::size_t size = predecessor_start_.size() - 1;
  std::vector<bool> left_over(size, true), seen(size, false);
  for (const Node v : order_) left_over[v] = false;
  // A node that was left over has a predecessor that was, so the walk back never ends before it meets itself.
  auto node = static_cast<Node>(std::find(left_over.begin(), left_over.end(), true) - left_over.begin());
  std::vector<Node> walk;
  while (!seen[node]) {
    seen[node] = true;
    walk.push_back(node);
    const std::span<const Node> before = predecessors(node);
    node = *std::find_if(before.begin(), before.end(), [&](Node p) { return left_over[p]; });
  }
  std::vector<Node> cycle(std::find(walk.begin(), walk.end(), node), walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace sluice
