// Prewarming: which functions should be loaded before somebody waits for them, and which need not stay. What is waited
// for is loaded by dispatch (loading.h). All forms load what was announced; they differ in what they keep.
//   none        gives an instance up as soon as nobody waits for it
//   keep-alive  gives it up when it was idle for a time
//   ahead       likewise, and loads the functions of later stages while requests are in earlier ones
//   ewma        learns how often a function is called: of frequent ones it keeps as many as their load needs, rare ones
//               it loads shortly before the next call is expected
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters (our choice unless marked): keep_alive_s 600 (origin: OpenWhisk), ewma_weight 0.3, ewma_reserve 1.2.
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_none();
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_keep_alive(const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_ahead(const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Prewarm> make_prewarm_ewma(const Parameters& parameters);

}  // namespace sluice::policy
