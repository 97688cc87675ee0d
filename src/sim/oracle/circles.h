// Circles: while requests wait, functions are loaded to be run. One that is loaded again and again and never runs is
// sent away by others that are loaded as much in vain.
#pragma once
#include <string>
#include <vector>

#include "sim/oracle/history.h"

namespace sluice::sim {

class Circles {
 public:
  // What is wrong with a load; empty: nothing.
  [[nodiscard]] std::string loaded(const History& history, const LoadInstance& load);
  void started(const History& history, const StartBatch& batch);

 private:
  struct Count {
    History::Instance function;
    std::uint32_t loads = 0;  // since it ran last
  };
  [[nodiscard]] Count& count(const History& history, const History::Instance& function);
  std::vector<Count> counts_;  // one of each function and tenant
};

}  // namespace sluice::sim
