// Reserved admission: a request is let in only if every stage of it can be given a place and a time now (placing.h), so
// that it ends in time and within its cost; then exactly that is booked. A refusal says what would have been possible.
// Admission and dispatch belong together: the first promises, the second keeps the promises.
//   - Functions that are loaded nowhere are loaded first, and the time that takes is part of the promise.
//   - A stage is promised as long as the slowest of its last executions took (pace.h). It has a window: the last start
//     with which the whole request is still in time. A stage that is late starts where that takes nothing from other
//     promises; what cannot start in its window is given up, so that no wrong estimate spreads.
//   - While more is asked for than the machines can do (scarcity.h), the place is taken that spoils the least of them,
//     and who would spoil more than a request has to is refused though there is room.
// Known caveats: one invocation a batch; stages after a condition are reserved as if they ran; to a workflow with a
// foreach nothing is promised, because how much it needs is not known ahead.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters (our choice): `cost_weight` 1 (the cheapest way that is in time; 0: the one that ends first; between them
// both count), `prices` 1 (0: nothing is ever scarce), `batches` 1 (0: nobody shares a promise).
// `others`: for applications that nothing can be promised to; null: their requests are refused.
[[nodiscard]] std::unique_ptr<Admission> make_slo_admission(const Parameters& parameters,
                                                            std::unique_ptr<Admission> others = nullptr);
[[nodiscard]] std::unique_ptr<Dispatch> make_reserved_dispatch(std::unique_ptr<Dispatch> others = nullptr);

}  // namespace sluice::policy
