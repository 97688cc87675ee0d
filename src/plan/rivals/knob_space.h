// KnobSpace: all ways to configure a workflow as the unit cube, three knobs (batch, vCPUs, slices) for every stage that
// has a choice. A coordinate x of a knob with n values means value min(n - 1, ⌊x · n⌋). Where a profile is not a full
// grid, the vCPUs on offer are those of the chosen batch and the slices those of both, so every point is a candidate
// and every candidate has points. Used by aquatope.h.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/workflow_model.h"

namespace sluice::plan {

class KnobSpace {
 public:
  static constexpr std::size_t kKnobs = 3;

  explicit KnobSpace(const WorkflowModel& model);
  [[nodiscard]] std::size_t dimensions() const { return kKnobs * stages_.size(); }  // 0: nothing to choose
  // Writes the candidate of every stage of the model. REQUIRES: dimensions() coordinates in [0, 1].
  void at(std::span<const double> point, std::vector<std::uint32_t>& candidates) const;

 private:
  struct Stage {
    std::uint32_t stage = 0;
    // Candidates by batch, of each by vCPUs, of each by slices (and device); all ascending.
    std::vector<std::vector<std::vector<std::uint32_t>>> values;
  };
  std::vector<Stage> stages_;
  std::size_t model_stages_ = 0;
};

}  // namespace sluice::plan
