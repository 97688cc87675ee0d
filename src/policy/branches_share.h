// What one branch of a request leaves to the others that wait beside it.
#pragma once
#include <vector>

#include "policy/affordable.h"
#include "policy/view.h"

namespace sluice::policy {

// Branches are planned one by one, each as if all of what is free were its own; together they may take more than there
// is, and the last one begins when the first has ended. So each keeps to its part of what is free, if that does it in
// time: ways to run it that take more are left out, unless none of the others scores below `miss`.
void leave_to_other_branches(const View& view, const Queue& queue, Dollars miss, std::vector<Scored>& scored);

}  // namespace sluice::policy
