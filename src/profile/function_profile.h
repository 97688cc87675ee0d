// FunctionProfile: how long one function takes, by configuration and neighbours. The only place that turns
// measured rows or a model into a time; planners and the simulator ask it. What was learned since is in learner.h.
#pragma once
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"
#include "domain/function.h"
#include "profile/latency.h"
#include "profile/model_times.h"
#include "profile/table_times.h"

namespace sluice::profile {

class FunctionProfile {
 public:
  // The first problem as an error (domain/profile_rules.h has all); `unavailable` if the function has no profile yet.
  [[nodiscard]] static Result<FunctionProfile> make(const Function& function);
  [[nodiscard]] static Result<FunctionProfile> make(const Profile& profile);

  // What a planner may choose from: the configurations that have a row, or the model's cross product;
  // sorted, without duplicates, never empty.
  [[nodiscard]] std::span<const Configuration> configurations() const { return configurations_; }

  // Whether there are times for a kind of device. Rows for "gpu" answer for every kind of GPU without rows of its own.
  [[nodiscard]] bool knows(DeviceKind device) const;

  // How long one batch takes; `busy`: with all other slices of the GPU busy, where that was measured, else as alone.
  // A partial batch is asked for by its actual batch. A measured row is answered exactly. Otherwise, in this order:
  //  - same vCPUs, slices and device: on the line between the neighbouring batches. Below the
  //    least the least; above the largest the line of the last two, or in proportion if there is only one;
  //  - other vCPUs or slices: the least of all measured times, each stretched by the share it has more than asked
  //    (twice the slices asked for: twice its time). More of either is never slower, whatever the rows say.
  // `extrapolated` is set whenever the answer does not lie between rows of the same vCPUs, slices and device; for a
  // model, whenever the question lies outside its sets.
  // REQUIRES: knows(device); batch ≥ 1; slices ≥ 1 exactly on GPUs. Allocates nothing.
  [[nodiscard]] Latency latency(const Configuration& configuration, bool busy = false) const;
  // With the share `neighbours` of the other slices of its GPU busy: on the line between alone and all of them.
  [[nodiscard]] Latency beside(const Configuration& configuration, double neighbours) const;

 private:
  using Times = std::variant<TableTimes, ModelTimes>;
  FunctionProfile(Times times, std::vector<Configuration> configurations);

  Times times_;
  std::vector<Configuration> configurations_;
};

}  // namespace sluice::profile
