// What goes wrong in a simulated world, drawn per run from a seed: some kinds are absent in some worlds, so that rare
// combinations are met.
#pragma once
#include "base/rng.h"
#include "base/time.h"

namespace sluice::sim {

struct Faults {
  double crash_per_event = 0;   // an invoker dies, and is noticed and comes back later
  double batch_fails = 0;       // a worker crashes with its batch
  double invocation_fails = 0;  // a function returns an error
  double message_late = 0;      // a result is delayed
  double message_twice = 0;     // and delivered again
  double cancel = 0;            // a request is cancelled shortly after it came
  double reload_per_event = 0;  // the scheduler is saved and loaded into a fresh one
  double slow = 0;              // a batch takes ten times as long
  Duration detection = Duration::ms(50), repair = Duration::ms(400);

  [[nodiscard]] bool any() const {
    return crash_per_event + batch_fails + invocation_fails + message_late + message_twice + cancel + reload_per_event +
               slow >
           0;
  }
  [[nodiscard]] static Faults draw(Rng& rng);
};

}  // namespace sluice::sim
