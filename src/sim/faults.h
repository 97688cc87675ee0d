// What goes wrong in a simulated world, drawn per run from a seed: some kinds are absent in some worlds, so that rare
// combinations are met.
#pragma once
#include "base/rng.h"
#include "base/time.h"

namespace sluice::sim {

struct Faults {
  double crash_per_event = 0;        // an invoker dies, and is noticed and comes back later
  double drain_per_event = 0;        // an invoker takes nothing new, and comes back with another number of vCPUs
  double expires = 0;                // a batch misses its window: nothing of it runs
  double batch_fails = 0;            // a worker crashes with its batch
  double invocation_fails = 0;       // a function returns an error
  double inputs_missing = 0;         // an invocation does not find what it reads: nothing of it runs
  double load_fails = 0;             // an instance cannot be loaded
  double process_dies = 0;           // an idle instance is gone, per event
  double message_late = 0;           // a result is delayed
  double message_lost = 0;           // and comes only when it is sent again
  double message_twice = 0;          // and delivered again
  double cancel = 0;                 // a request is cancelled shortly after it came
  double own_terms = 0;              // a request has a deadline, a priority, perhaps a limit of cost of its own
  double announced = 0;              // a request is announced when the one before it comes
  double announced_wrong = 0;        // a request is announced that never comes, per event
  double object_lost_per_event = 0;  // what a request left on a machine is gone
  double profile_changes = 0;        // somebody sends another profile, per event
  double profile_wrong = 0;          // the scheduler is told profiles that are off by up to this, without their spread
  double reload_per_event = 0;       // the scheduler is saved and loaded into a fresh one
  double slow = 0;                   // a batch takes ten times as long
  double gap_per_event = 0;          // the link to an invoker breaks and is there again
  double quota_changes = 0;          // a tenant gets another quota, per event; for a while perhaps too little to run
  Duration detection = Duration::ms(50), repair = Duration::ms(400);

  [[nodiscard]] bool any() const;
  [[nodiscard]] static Faults draw(Rng& rng);
};

}  // namespace sluice::sim
