#include "plan/fastest_rest.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "plan/irregular_region.h"

namespace sluice::plan {
namespace {

using Tree = SeriesParallelTree;

constexpr double kNever = std::numeric_limits<double>::infinity();

double fastest(const ModelStage& stage, BatchCap cap) {
  double least = kNever;
  for (const Candidate& c : stage.candidates) {
    if (c.configuration.batch <= cap) least = std::min(least, stage.scale.of(c.ms, c.cost).ms + stage.wait_ms);
  }
  return least;
}

// When `needed` of the branches are over.
double of_parallel(std::vector<double> times, std::uint32_t needed) {
  if (std::ranges::find(times, kNever) != times.end()) return kNever;  // the others run as well
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(needed - 1), times.end());
  return times[needed - 1];
}

double of_region(const IrregularRegion& region, const std::vector<double>& times) {
  if (std::ranges::find(times, kNever) != times.end()) return kNever;
  std::vector<double> finish(times.size());
  return region.finish(times, finish);
}

}  // namespace

FastestRest::FastestRest(const WorkflowModel& model, BatchCap cap)
    : links_(model), nodes_(model.tree.nodes.size()), after_(model.tree.nodes.size()) {
  for (Tree::Index i = 0; i < nodes_.size(); ++i) {  // children come before their parents
    const Tree::Node& node = model.tree.nodes[i];
    const auto children = model.tree.children_of(node);
    std::vector<double> times;
    for (const Tree::Index child : children) times.push_back(nodes_[child]);
    switch (node.kind) {
      case Tree::Kind::empty:
        break;
      case Tree::Kind::stage:
        nodes_[i] = fastest(model.stages[node.stage], cap);
        break;
      case Tree::Kind::series:
        // Added up from the end, as frontiers are, so that both say the same to the bit.
        for (std::size_t c = children.size(); c-- > 0;) {
          after_[children[c]] = nodes_[i];
          nodes_[i] = times[c] + nodes_[i];
        }
        break;
      case Tree::Kind::parallel:
        nodes_[i] = of_parallel(std::move(times), node.needed);
        break;
      case Tree::Kind::irregular:
        nodes_[i] = of_region(IrregularRegion(model.tree, i), times);
        break;
    }
  }
}

double FastestRest::from(const WorkflowModel& model, std::size_t stage) const {
  Tree::Index node = links_.leaf[stage];
  double ms = nodes_[node];
  for (; node != model.tree.root(); node = links_.parent[node]) {
    const Tree::Index parent = links_.parent[node];
    const Tree::Node& above = model.tree.nodes[parent];
    if (above.kind == Tree::Kind::series) {
      ms += after_[node];
      continue;
    }
    if (above.kind == Tree::Kind::parallel && ms == nodes_[node]) {  // as if all of it began: no need to look at all
      ms = nodes_[parent];
      continue;
    }
    std::vector<double> times;
    for (const Tree::Index child : model.tree.children_of(above)) times.push_back(child == node ? ms : nodes_[child]);
    if (above.kind == Tree::Kind::parallel) {
      ms = of_parallel(std::move(times), above.needed);
      continue;
    }
    const IrregularRegion region(model.tree, parent);
    const std::vector<bool> done = region.before(links_.position[node]);
    if (std::ranges::find(times, kNever) != times.end()) return kNever;
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = done[i] ? 0 : times[i];
    ms = of_region(region, times);
  }
  return ms;
}

}  // namespace sluice::plan
