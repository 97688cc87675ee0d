#include "plan/distribution.h"

#include <optional>
#include <vector>

#include "base/check.h"

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;

class Fold {
 public:
  Fold(const WorkflowModel& model, std::span<const StageChoice> choices, double width_ms)
      : model_(model), choices_(choices), width_ms_(width_ms), made_(model.tree.nodes.size()) {}

  Histogram run() {
    for (SeriesParallelTree::Index i = 0; i < made_.size(); ++i) made_[i] = of(model_.tree.nodes[i]);  // children first
    return std::move(*made_.back());
  }

 private:
  Histogram of(const SeriesParallelTree::Node& node) const {
    switch (node.kind) {
      case Kind::stage:
        return of_stage(node.stage);
      case Kind::empty:
        return Histogram::point(0, width_ms_);
      case Kind::series:
        return of_series(node);
      case Kind::parallel:
        return kth_of(parts(node), node.needed);
      case Kind::irregular:
        return of_irregular(node);
    }
    CHECK_MSG(false, "unknown kind of node");
  }

  Histogram of_stage(std::size_t stage) const {
    if (!choices_[stage].runs) return Histogram::point(0, width_ms_);
    const ModelStage& at = model_.stages[stage];
    const std::uint32_t candidate = choices_[stage].candidate;
    const double mean = at.candidates[candidate].ms * at.scale.ms + at.wait_ms;
    return Histogram::from_normal(mean, at.sd_ms[candidate] * at.scale.ms, width_ms_);
  }

  Histogram of_series(const SeriesParallelTree::Node& node) const {
    const std::vector<Histogram> in_order = parts(node);
    Histogram sum = in_order.front();
    for (std::size_t i = 1; i < in_order.size(); ++i) sum = convolve(sum, in_order[i]);
    return sum;
  }

  Histogram of_irregular(const SeriesParallelTree::Node& node) const {
    const std::vector<Histogram> durations = parts(node);
    std::vector<Histogram> finish;
    std::vector<bool> followed(durations.size());
    for (const SeriesParallelTree::Edge& edge : model_.tree.edges_of(node)) followed[edge.from] = true;
    for (std::uint32_t i = 0; i < durations.size(); ++i) {  // topological order
      std::vector<Histogram> before;
      for (const SeriesParallelTree::Edge& edge : model_.tree.edges_of(node)) {
        if (edge.to == i) before.push_back(finish[edge.from]);
      }
      finish.push_back(before.empty() ? durations[i] : convolve(max_of(before), durations[i]));
    }
    std::vector<Histogram> last;
    for (std::size_t i = 0; i < finish.size(); ++i) {
      if (!followed[i]) last.push_back(finish[i]);
    }
    return max_of(last);
  }

  std::vector<Histogram> parts(const SeriesParallelTree::Node& node) const {
    std::vector<Histogram> out;
    for (const SeriesParallelTree::Index child : model_.tree.children_of(node)) out.push_back(*made_[child]);
    return out;
  }

  const WorkflowModel& model_;
  std::span<const StageChoice> choices_;
  double width_ms_;
  std::vector<std::optional<Histogram>> made_;
};

}  // namespace

Histogram distribution(const WorkflowModel& model, std::span<const StageChoice> choices, double width_ms) {
  CHECK(choices.size() == model.stages.size());
  return Fold(model, choices, width_ms).run();
}

}  // namespace sluice::plan
