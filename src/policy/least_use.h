// LeastUse: what one request of an application takes of a cluster at the least, at given prices of vCPUs and slices, if
// it is in time. Used by Scarcity. Derived from the plans of an application, never saved.
//
// Every stage takes the point that is cheapest with a price on its time; the least price of time at which the whole
// request is in time is searched for. Known caveat: between two points of a stage nothing is, so that it is the least
// but for one step of one stage.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/workflow_model.h"

namespace sluice::policy {

class LeastUse {
 public:
  // Of one candidate of a stage: how long it is to be planned with, and of how much of the vCPUs and slices of a
  // machine or GPU it keeps others for how long; a batch of so many shares that.
  struct Point {
    double ms = 0, vcpu_ms = 0, slice_ms = 0;
    double batch = 1;
  };
  using Points = std::vector<Point>;

  LeastUse() = default;
  // `points` by stage of the model; a stage with none takes nothing.
  // `made`: a number for what they were made of.
  LeastUse(std::shared_ptr<const plan::WorkflowModel> model, const std::vector<Points>& points, std::uint64_t made);

  // With batches of at most so many (those of the fewest always count). What the fastest way takes if it is not in
  // time either.
  [[nodiscard]] double at(double vcpu_price, double slice_price, double within_ms, double company) const;
  [[nodiscard]] std::uint64_t made() const { return made_; }  // 0: of nothing

 private:
  struct Sum {
    double ms = 0, taken = 0;
  };
  [[nodiscard]] Sum sum(double vcpu_price, double slice_price, double ms_price, double company) const;

  std::shared_ptr<const plan::WorkflowModel> model_;
  std::vector<Points> points_;
  std::uint64_t made_ = 0;
};

}  // namespace sluice::policy
