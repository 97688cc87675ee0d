// Circles: while requests wait, functions are loaded to be run. One that is loaded and sent away again and again and
// never runs goes for others that are loaded as much in vain. What is lost with a machine, or could not be loaded, is
// no circle, nor are many that go at once.
#pragma once
#include <string>
#include <vector>

#include "sim/oracle/history.h"

namespace sluice::sim {

class Circles {
 public:
  void loaded(const History& history, const LoadInstance& load);
  // What is wrong with sending an instance away; empty: nothing.
  [[nodiscard]] std::string evicted(const History& history, const EvictInstance& evict);
  void started(const History& history, const StartBatch& batch);

 private:
  struct Count {
    History::Instance function;
    bool loaded = false;       // since it was sent away last
    std::uint32_t rounds = 0;  // of a load and an eviction, since it ran last
  };
  [[nodiscard]] Count& count(const History& history, const History::Instance& function);
  std::vector<Count> counts_;  // one of each function and tenant
};

}  // namespace sluice::sim
