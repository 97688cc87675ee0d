// Inventory: what the invokers of a station run, have loaded and hold, kept from the commands and events that pass. It
// is what an invoker says when it joins again. Used by Station.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "domain/commands.h"
#include "domain/events.h"

namespace sluice::bus {

class Inventory {
 public:
  void note(const Action& action);
  void note(const Event& event);
  // Every invoker that has joined, as of now.
  [[nodiscard]] std::vector<InvokerJoined> joined() const;

 private:
  struct Running {
    RunningBatch batch;
    std::map<InvocationId, RequestId> requests;
  };
  struct Machine {
    InvokerJoined joined;  // what it was when it began; its lists are below
    std::map<InstanceId, InstanceStatus> instances;
    std::map<BatchId, Running> running;
    std::set<RequestId> objects;
  };
  void note(const LoadInstance& load);
  void note(const EvictInstance& evict);
  void note(const StartBatch& start);
  void note(const ReleaseObjects& release);
  void note(const BatchFinished& finished);
  void ended(BatchId batch);
  [[nodiscard]] InstanceStatus* find(InvokerId invoker, InstanceId instance);
  void set_level(InvokerId invoker, InstanceId instance, Level level);

  std::map<InvokerId, Machine> machines_;
  std::map<BatchId, InvokerId> batches_;  // where it runs
};

}  // namespace sluice::bus
