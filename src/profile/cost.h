// What running a configuration costs, for planning. The ledger bills what was held (core/); prices are the
// application's.
#pragma once
#include "base/money.h"
#include "domain/profile.h"

namespace sluice::profile {

// Dollars per invocation of a full batch that holds its vCPUs and slices for `held_ms`.
[[nodiscard]] inline Dollars cost_per_invocation(const Configuration& configuration, double held_ms,
                                                 const Prices& prices) {
  return prices.per_ms(configuration) * held_ms / configuration.batch;
}

}  // namespace sluice::profile
