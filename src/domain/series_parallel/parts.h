// Parts: a series-parallel tree while it grows. Reductions join two parts at a time; finish() flattens and orders them.
// Parts 0 to stages-1 are the stages. Every part but kEmpty is used at most once.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "domain/series_parallel.h"

namespace sluice::reduction {

using Part = std::uint32_t;
inline constexpr Part kEmpty = ~Part{0};

class Parts {
 public:
  using Edge = SeriesParallelTree::Edge;
  using Kind = SeriesParallelTree::Kind;

  // `needed` by stage: how many predecessors it waits for if not all, else 0.
  explicit Parts(const std::vector<std::uint32_t>& needed);
  [[nodiscard]] Part series(Part first, Part second);
  [[nodiscard]] Part parallel(Part a, Part b);
  // Branches of which `needed` must finish, fewer than all.
  [[nodiscard]] Part join(std::span<const Part> branches, std::uint32_t needed);
  // `edges` count `children` from 0. `needed` 0: all that no edge leaves.
  [[nodiscard]] Part irregular(std::span<const Part> children, std::vector<Edge> edges, std::uint32_t needed);

  [[nodiscard]] SeriesParallelTree finish() const;  // the root is the part made last

 private:
  struct Item {
    Kind kind = Kind::stage;
    Graph::Node lowest = 0;    // stage in the part; kNone never, an empty part is no item
    std::uint32_t needed = 0;  // as of the tree's node; 0: all
    std::uint32_t first_child = 0, child_count = 0, first_edge = 0, edge_count = 0;
  };
  [[nodiscard]] Graph::Node lowest(Part part) const { return part == kEmpty ? Graph::kNone : items_[part].lowest; }
  [[nodiscard]] std::span<const Part> children_of(const Item& item) const {
    return {children_.data() + item.first_child, item.child_count};
  }
  [[nodiscard]] Part add(Item item, std::span<const Part> children);
  [[nodiscard]] bool flattens(const Item& outer, Part inner) const;
  [[nodiscard]] std::vector<bool> find_absorbed() const;
  [[nodiscard]] std::vector<Part> flat_children(Part part, const std::vector<bool>& absorbed) const;

  std::vector<Item> items_;
  std::vector<Part> children_;
  std::vector<Edge> edges_;
};

}  // namespace sluice::reduction
