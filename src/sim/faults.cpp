#include "sim/faults.h"

namespace sluice::sim {

bool Faults::any() const {
  return crash_per_event + drain_per_event + batch_fails + invocation_fails + inputs_missing + load_fails +
             process_dies + message_late + expires + message_lost + message_twice + cancel + own_terms + announced +
             announced_wrong + object_lost_per_event + profile_changes + profile_wrong + reload_per_event + slow +
             gap_per_event + quota_changes >
         0;
}

Faults Faults::draw(Rng& rng) {
  Faults out;
  const auto maybe = [&](double& value, double high) {
    const bool present = rng.chance(0.4);
    const double drawn = rng.uniform() * high;
    if (present) value = drawn;
  };
  maybe(out.crash_per_event, 0.01);
  maybe(out.drain_per_event, 0.01);
  maybe(out.expires, 0.1);
  maybe(out.batch_fails, 0.1);
  maybe(out.invocation_fails, 0.1);
  maybe(out.inputs_missing, 0.1);
  maybe(out.load_fails, 0.3);
  maybe(out.process_dies, 0.02);
  maybe(out.message_late, 0.2);
  maybe(out.message_lost, 0.1);
  maybe(out.message_twice, 0.2);
  maybe(out.cancel, 0.1);
  maybe(out.own_terms, 0.5);
  maybe(out.announced, 1);
  maybe(out.announced_wrong, 0.02);
  maybe(out.object_lost_per_event, 0.02);
  maybe(out.profile_changes, 0.01);
  maybe(out.profile_wrong, 1);
  maybe(out.reload_per_event, 0.05);
  maybe(out.slow, 0.1);
  maybe(out.gap_per_event, 0.05);
  maybe(out.quota_changes, 0.02);
  return out;
}

}  // namespace sluice::sim
