#include "plan/evaluate.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "plan/irregular_region.h"

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;
using Node = SeriesParallelTree::Node;

// The `needed`-th smallest; 0 or too many: the largest. No times: 0.
double nth_finish(std::vector<double> times, std::uint32_t needed) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  const std::size_t n = needed == 0 ? times.size() : std::min<std::size_t>(needed, times.size());
  return times[n - 1];
}

class Evaluator {
 public:
  Evaluator(const SeriesParallelTree& tree, std::span<const StageTerms> terms) : tree_(tree), terms_(terms) {}

  Totals of(const Node& node) const {
    switch (node.kind) {
      case Kind::stage:
        return of_stage(node);
      case Kind::empty:
        return {};
      case Kind::series:
        return of_series(node);
      case Kind::parallel:
        return of_parallel(node);
      case Kind::irregular:
        return of_irregular(node);
    }
    CHECK_MSG(false, "unknown kind of node");
  }

 private:
  Totals of_stage(const Node& node) const {
    CHECK(node.stage < terms_.size());
    return {.ms = terms_[node.stage].ms, .cost = terms_[node.stage].cost};
  }

  Totals of_series(const Node& node) const {
    Totals sum;
    for (const auto child : tree_.children_of(node)) {
      const Totals part = of(tree_.nodes[child]);
      sum.ms += part.ms;
      sum.cost += part.cost;
    }
    return sum;
  }

  Totals of_parallel(const Node& node) const {
    std::vector<double> times;
    Dollars cost = 0;
    for (const auto child : tree_.children_of(node)) {
      const Totals part = of(tree_.nodes[child]);
      times.push_back(part.ms);
      cost += part.cost;
    }
    return {.ms = nth_finish(std::move(times), node.needed), .cost = cost};
  }

  Totals of_irregular(const Node& node) const {
    const IrregularRegion region(tree_, static_cast<SeriesParallelTree::Index>(&node - tree_.nodes.data()));
    std::vector<double> ms, finish(region.size());
    Totals totals;
    for (const auto child : tree_.children_of(node)) {
      const Totals part = of(tree_.nodes[child]);
      ms.push_back(part.ms);
      totals.cost += part.cost;
    }
    totals.ms = region.finish(ms, finish);
    return totals;
  }

  const SeriesParallelTree& tree_;
  std::span<const StageTerms> terms_;
};

}  // namespace

StageScale foreach_scale(std::uint32_t items, std::uint32_t limit, double share) {
  const std::uint32_t at_a_time = limit == 0 ? std::max(items, 1u) : limit;
  const std::uint32_t waves = items / at_a_time + (items % at_a_time == 0 ? 0 : 1);
  return {.ms = static_cast<double>(waves), .cost = items * share};
}

Totals evaluate(const SeriesParallelTree& tree, std::span<const StageTerms> terms) {
  CHECK(!tree.nodes.empty());
  return Evaluator(tree, terms).of(tree.nodes[tree.root()]);
}

}  // namespace sluice::plan
