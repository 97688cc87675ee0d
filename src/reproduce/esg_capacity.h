// The load that a scheduler bears: the largest multiple of the heavy load at which 99 % of the requests still meet
// their objective. Found on a coarse axis, then by bisection.
#pragma once
#include <optional>
#include <vector>

#include "reproduce/esg.h"
#include "reproduce/esg_points.h"

namespace sluice::reproduce {

// Bisection over whole numbers, asked from outside so that many can go in step.
class Bisection {
 public:
  // REQUIRES: good < bad; `good` is known to be good (or 0, which nobody asks about), `bad` to be bad.
  Bisection(int good, int bad) : good_(good), bad_(bad) {}
  [[nodiscard]] std::optional<int> next() const;  // nothing when done
  void tell(bool good);                           // about next(). REQUIRES: it is not done
  [[nodiscard]] int last_good() const { return good_; }

 private:
  int good_, bad_;
};

// A load axis of ×0.2 to ×1.6 (experiment `load-axis`) and the capacity at 99 % hits to 0.01 (metric `capacity_at_99`),
// with uniform gaps and Poisson arrivals, for the objectives of options.settings or all three.
[[nodiscard]] std::uint64_t work_of_capacity(const EsgOptions& options, const Experiment& evaluation,
                                             const Length& length);  // about
[[nodiscard]] Result<std::vector<Row>> play_capacity(const EsgOptions& options, const Experiment& evaluation,
                                                     const Length& length, Player& player);

}  // namespace sluice::reproduce
