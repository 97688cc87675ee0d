// Patience: the share of the time that waiting seems worth that it gets. It falls when waiting made a request late and
// rises while it does not, so that it happens to one request of a few hundred or thousand, whatever the model of the
// world got wrong.
#pragma once
#include <algorithm>

#include "base/archive.h"

namespace sluice::policy {

struct Patience {
  double left = 1;

  // A request has ended; `lost`: waiting made it late. In the long run that happens to rises / (1 - keeps) of them.
  void ended(bool lost, double keeps, double rises) { left = lost ? left * keeps : std::min(1.0, left + rises); }
  void visit(Archive& a) { a(left); }
};

}  // namespace sluice::policy
