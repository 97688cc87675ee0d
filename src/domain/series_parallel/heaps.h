// Heaps: many mergeable min-heaps in one pool (leftist trees). A heap is named by its root; kNoHeap is an empty one.
// push, pop and merge are O(log size); merge recurses that deep.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice::reduction {

class Heaps {
 public:
  using Root = std::uint32_t;
  static constexpr Root kNoHeap = 0;

  [[nodiscard]] std::uint32_t key(Root heap) const { return nodes_[heap].key; }
  [[nodiscard]] std::uint32_t value(Root heap) const { return nodes_[heap].value; }

  void push(Root& heap, std::uint32_t key, std::uint32_t value) {
    if (free_.empty()) {
      free_.push_back(static_cast<Root>(nodes_.size()));
      nodes_.emplace_back();
    }
    const Root added = free_.back();
    free_.pop_back();
    nodes_[added] = {.key = key, .value = value, .rank = 1};
    heap = merge(heap, added);
  }
  // REQUIRES: not empty.
  void pop(Root& heap) {
    free_.push_back(heap);
    heap = merge(nodes_[heap].left, nodes_[heap].right);
  }

  // Both are used up.
  [[nodiscard]] Root merge(Root a, Root b) {
    if (a == kNoHeap || b == kNoHeap) return a == kNoHeap ? b : a;
    if (nodes_[b].key < nodes_[a].key) std::swap(a, b);
    const Root right = merge(nodes_[a].right, b);
    Node& node = nodes_[a];
    node.right = right;
    if (nodes_[node.left].rank < nodes_[node.right].rank) std::swap(node.left, node.right);
    node.rank = nodes_[node.right].rank + 1;
    return a;
  }

 private:
  struct Node {
    std::uint32_t key = 0, value = 0;
    Root left = kNoHeap, right = kNoHeap;
    std::uint32_t rank = 0;  // length of the path of right children; never longer on the right than on the left
  };
  std::vector<Node> nodes_ = std::vector<Node>(1);  // the first stands for every empty heap
  std::vector<Root> free_;
};

}  // namespace sluice::reduction
