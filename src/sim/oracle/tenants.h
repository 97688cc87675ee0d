// Tenants: a batch holds requests of one application that are not answered yet, runs on an instance of its own tenant's
// function, and takes no more than its tenant's quota leaves.
#pragma once
#include <string>

#include "sim/oracle/history.h"

namespace sluice::sim {

class Tenants {
 public:
  // What is wrong with a batch that starts; empty: nothing.
  [[nodiscard]] std::string started(const History& history, const StartBatch& batch) const;
};

}  // namespace sluice::sim
