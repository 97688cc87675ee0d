// Which stages come before which: answers many questions at once, 64 sources a pass.
#pragma once
#include <span>
#include <vector>

#include "domain/graph.h"

namespace sluice {

struct ReachQuestion {
  Graph::Node from, to;
};
// For each question whether a path of one or more edges leads from `from` to `to`. O(edges · distinct sources / 64).
[[nodiscard]] std::vector<bool> reaches(const Graph& graph, std::span<const ReachQuestion> questions);

}  // namespace sluice
