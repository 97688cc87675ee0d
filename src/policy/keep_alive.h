// Prewarming: which functions should be loaded where. All forms load what waits; they differ in what they keep.
//   none        gives an instance up as soon as nobody waits for it
//   keep-alive  gives it up when it was idle for a time
//   ewma        learns how often a function is called: of frequent ones it keeps as many as their load needs, rare ones
//               it loads shortly before the next call is expected
// Known caveat: loads grow by half of what is ready, so a burst from nothing takes several loads to be served in full;
// loading one instance for every waiting invocation fills a cluster with loads that come too late.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters (our choice unless marked): keep_alive_s 600 (origin: OpenWhisk), ewma_weight 0.3, ewma_reserve 1.2.
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_none();
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_keep_alive(const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_ewma(const Parameters& parameters);

}  // namespace sluice::policy
