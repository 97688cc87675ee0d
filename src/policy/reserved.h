// Reserved admission: a request is let in only if every stage of it can be given a place and a time now, so that it
// ends in time and within its cost; then exactly that is booked. A refusal says what would have been possible.
// Admission and dispatch belong together: the first promises, the second keeps the promises.
// Known caveats: one invocation a batch; stages after a condition are reserved as if they ran; a workflow with a
// foreach is refused, because how much it needs is not known ahead. When times are not exact a promise may be missed:
// what cannot start in time any more is dropped instead of being run late.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

[[nodiscard]] std::unique_ptr<Admission> make_slo_admission(const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Dispatch> make_reserved_dispatch();

}  // namespace sluice::policy
