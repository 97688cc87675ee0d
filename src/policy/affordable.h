// What requests may spend: of the ways to run a batch, those that keep its members within their limits of cost.
#pragma once
#include <vector>

#include "policy/sluice_model.h"
#include "policy/view.h"

namespace sluice::policy {

// One way to run a batch, with what it is expected to cost an invocation.
struct Scored {
  Dollars score = 0;
  const Choice* choice = nullptr;
  bool near = false;  // where the oldest one's inputs are
};

// Leaves out what would make a request of the queue dearer than its limit of cost, counting the least that is to come.
// If that is everything, the cheapest stays. Where there is a limit, what no machine could start with what is loaded
// there is left out before: it would be waited for in vain. REQUIRES: batches ascend.
void keep_affordable(const View& view, const Queue& queue, const SluiceModel& model, std::vector<Scored>& scored);

}  // namespace sluice::policy
