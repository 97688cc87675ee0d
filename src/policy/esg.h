// ESG_Dispatch: application-function-wise queues in round robin, each searched by ESG_1Q for its K best configuration
// paths; the first that fits at the home invoker, where the inputs are, or in probe order is taken. A queue that fits
// nowhere goes to the recheck list; after some failures it runs the minimum configuration as soon as that fits. ESG,
// HPDC 2024.
#pragma once
#include <memory>

#include "policy/esg_answers.h"
#include "policy/policy.h"

namespace sluice::policy {

// Parameters: k (5), group (3), fails (3), safety (1: the budget is divided by it), order (0: round robin; 1: queues by
// the deadline of their oldest invocation), memo (1: budgets are rounded down to 1 ms and searches remembered; 0:
// neither). For its twins (reproduce/esg_tuned.h), not in the paper: distinct (0; 1: of the K best paths those with
// different first configurations), fallback (0: where no path is fast enough the fastest configuration runs, 1: the
// least, 2: the cheapest), drop (0; 1: an invocation that cannot be in time any more is given up).
[[nodiscard]] std::unique_ptr<Dispatch> make_esg(const Parameters& parameters, EsgLibrary library = {});

}  // namespace sluice::policy
