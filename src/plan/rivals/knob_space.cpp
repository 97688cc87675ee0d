#include "plan/rivals/knob_space.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace sluice::plan {
namespace {

template <class T>
const T& value_at(const std::vector<T>& values, double x) {
  return values[std::min(values.size() - 1, static_cast<std::size_t>(x * static_cast<double>(values.size())))];
}

}  // namespace

KnobSpace::KnobSpace(const WorkflowModel& model) : model_stages_(model.stages.size()) {
  for (std::uint32_t s = 0; s < model.stages.size(); ++s) {
    const Candidates& candidates = model.stages[s].candidates;
    if (candidates.size() < 2) continue;
    std::vector<std::uint32_t> sorted(candidates.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(candidates[a].configuration, a) < std::pair(candidates[b].configuration, b);
    });
    Stage stage{.stage = s};
    const Configuration* before = nullptr;
    for (const std::uint32_t i : sorted) {
      const Configuration& c = candidates[i].configuration;
      const bool new_batch = before == nullptr || c.batch != before->batch;
      if (new_batch) stage.values.emplace_back();
      if (new_batch || c.vcpu != before->vcpu) stage.values.back().emplace_back();
      stage.values.back().back().push_back(i);
      before = &c;
    }
    stages_.push_back(std::move(stage));
  }
}

void KnobSpace::at(std::span<const double> point, std::vector<std::uint32_t>& candidates) const {
  CHECK(point.size() == dimensions());
  candidates.assign(model_stages_, 0);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const auto knobs = point.subspan(s * kKnobs, kKnobs);
    candidates[stages_[s].stage] = value_at(value_at(value_at(stages_[s].values, knobs[0]), knobs[1]), knobs[2]);
  }
}

}  // namespace sluice::plan
