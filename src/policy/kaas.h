// KaaS round robin: requests in order of arrival, invokers in strict rotation; the head waits for "its" invoker and
// blocks everything behind it. Invokers that could not run it, or where its function is not loaded, are passed over.
// Weaknesses are the point: idle machines with work queued.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

[[nodiscard]] std::unique_ptr<Dispatch> make_kaas_round_robin();

}  // namespace sluice::policy
