// Oracles: what must be true of every history, whatever the scheduler: tenants stay apart, what must not run twice
// does not, a request fails for a reason that counts, one that could run does, and nothing is loaded in circles. Used
// by soak, and by tests with forged histories.
#pragma once
#include <string>

#include "core/scheduler.h"
#include "sim/oracle/circles.h"
#include "sim/oracle/failures.h"
#include "sim/oracle/history.h"
#include "sim/oracle/liveness.h"
#include "sim/oracle/repeats.h"
#include "sim/oracle/tenants.h"

namespace sluice::sim {

class Oracles {
 public:
  // `in_rotation`: of a scheduler that uses machines one after the other, whatever runs there.
  explicit Oracles(const core::Limits& limits = {}, bool in_rotation = false)
      : failures_(limits), liveness_(in_rotation) {}

  // Every event and every decision, in order.
  void observed(const Event& event, Time now);
  void decided(const Commands& commands, Time now);
  // The first thing that was wrong; empty: nothing was.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  void judge(const Command& command, Time now);
  void note(std::string wrong);

  History history_;
  Circles circles_;
  Tenants tenants_;
  Repeats repeats_;
  Failures failures_;
  Liveness liveness_;
  std::string broken_;
};

}  // namespace sluice::sim
