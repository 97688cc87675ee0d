// Graph: the edges of a workflow in two flat arrays, with a topological order. Built once per workflow; every analysis
// works on it. 50,000 stages take milliseconds.
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "domain/workflow.h"

namespace sluice {

class Graph {
 public:
  using Node = std::uint32_t;  // StageId::value(), so that arrays are indexed without conversion
  static constexpr Node kNone = ~Node{0};

  // `predecessors[i]` are the predecessors of node i; duplicates are dropped. Either the graph, or the nodes of one
  // cycle in order: the lowest id on it first, each followed by one of its successors, the last one's successor is the
  // first. REQUIRES: every predecessor < predecessors.size().
  [[nodiscard]] static std::variant<Graph, std::vector<Node>> make(const std::vector<std::vector<Node>>& predecessors);
  // The `after` edges of a workflow.
  [[nodiscard]] static std::variant<Graph, std::vector<Node>> make(const Workflow& workflow);

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] std::size_t edge_count() const { return predecessors_.size(); }
  // Both ascending.
  [[nodiscard]] std::span<const Node> predecessors(Node node) const {
    return slice(predecessor_start_, predecessors_, node);
  }
  [[nodiscard]] std::span<const Node> successors(Node node) const { return slice(successor_start_, successors_, node); }
  // Predecessors before successors; among the ready ones the lowest id first, so that the order is unique.
  [[nodiscard]] std::span<const Node> topological_order() const { return order_; }
  [[nodiscard]] std::vector<Node> entries() const;  // ascending
  [[nodiscard]] std::vector<Node> exits() const;    // ascending

 private:
  [[nodiscard]] static std::span<const Node> slice(const std::vector<std::uint32_t>& start,
                                                   const std::vector<Node>& nodes, Node node) {
    return {nodes.data() + start[node], nodes.data() + start[node + 1]};
  }
  // Fills order_; leaves out what is on a cycle or after one.
  void sort();
  // The predecessors that sort() left over, walked back until one comes again. REQUIRES: sort() left something over.
  [[nodiscard]] std::vector<Node> find_cycle() const;

  std::vector<std::uint32_t> predecessor_start_, successor_start_;
  std::vector<Node> predecessors_, successors_, order_;
};

}  // namespace sluice
