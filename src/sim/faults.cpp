#include "sim/faults.h"

namespace sluice::sim {

Faults Faults::draw(Rng& rng) {
  Faults out;
  const auto maybe = [&](double& value, double high) {
    const bool present = rng.chance(0.5);
    const double drawn = rng.uniform() * high;
    if (present) value = drawn;
  };
  maybe(out.crash_per_event, 0.01);
  maybe(out.batch_fails, 0.1);
  maybe(out.invocation_fails, 0.1);
  maybe(out.message_late, 0.2);
  maybe(out.message_twice, 0.2);
  maybe(out.cancel, 0.1);
  maybe(out.reload_per_event, 0.05);
  maybe(out.slow, 0.1);
  return out;
}

}  // namespace sluice::sim
