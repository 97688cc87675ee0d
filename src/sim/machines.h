// Machines: what the simulated invokers really hold and run. It knows nothing of the scheduler's books, so that it can
// tell when something is booked twice or started where it is not loaded.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/cluster.h"
#include "domain/commands.h"
#include "domain/events.h"

namespace sluice::sim {

class Machines {
 public:
  explicit Machines(const Cluster& cluster);
  [[nodiscard]] std::size_t size() const { return machines_.size(); }
  [[nodiscard]] const NodeGroup& capacity(std::size_t machine) const { return machines_[machine].capacity; }
  [[nodiscard]] NodeGroup& capacity(std::size_t machine) { return machines_[machine].capacity; }
  [[nodiscard]] std::vector<NodeGroup> capacities() const;
  [[nodiscard]] std::uint64_t vcpus() const;
  [[nodiscard]] std::uint64_t slices() const;

  [[nodiscard]] std::uint64_t epoch(std::size_t machine) const { return machines_[machine].epoch; }  // 0: down
  [[nodiscard]] std::uint64_t boot(std::size_t machine, Time now);
  void crash(std::size_t machine, Time now);  // with all it holds

  // Every machine holds one instance of each of these functions from when it boots; nothing has to be loaded.
  void keep_warm(std::vector<Bytes> memory_by_function) { warm_ = std::move(memory_by_function); }

  // What is wrong with starting this batch; empty: nothing, and it runs. `function`: its place in keep_warm()'s list.
  [[nodiscard]] std::string start(const StartBatch& batch, std::uint32_t function, Time now);
  void end(const StartBatch& batch, std::uint32_t function, Time now);
  // The same in two steps, for a batch that is sent while others hold what it takes: its instance is in use from when
  // it was sent, its slices from when it begins. Its vCPUs have to be there when it was sent, as a machine may shrink
  // later; `followed`: those of the batches whose end it waits for.
  [[nodiscard]] std::string enter(const StartBatch& batch, std::uint32_t followed, std::uint32_t function, Time now);
  [[nodiscard]] std::string begin(const StartBatch& batch);
  // It does not begin after all.
  void leave(const StartBatch& batch, std::uint32_t function, Time now);
  // The share of the GPU's other slices that are busy, in [0, 1].
  [[nodiscard]] double neighbours(const StartBatch& batch) const;

  // Instances.
  struct Loaded {
    ApplicationId application;
    FunctionId function;
    Level level = Level::none;
    std::uint16_t gpu = 0;
    Bytes memory;
    std::uint32_t running = 0;
    Time since;  // at this level
  };
  [[nodiscard]] Loaded* find(InvokerId invoker, InstanceId instance);
  [[nodiscard]] const std::map<InstanceId, Loaded>& instances(InvokerId invoker) const {
    return machines_[invoker.index()].instances;
  }
  void set(InvokerId invoker, InstanceId instance, const Loaded& loaded, Time now);
  void unload(InvokerId invoker, InstanceId instance, Level left, Time now);
  // One that nobody uses, by a number that is drawn; nothing if there is none.
  [[nodiscard]] std::optional<std::pair<InvokerId, InstanceId>> idle_one(std::uint64_t draw) const;
  // Memory of instances that did nothing, over time.
  [[nodiscard]] double idle_gb_s(Time now);
  void forget_idle(Time now);  // counting begins again: the warm-up is over

 private:
  struct Machine {
    NodeGroup capacity;
    std::uint64_t epoch = 0;
    std::uint32_t vcpu = 0;             // of those that were sent and have not ended
    std::vector<std::uint64_t> slices;  // that run, by GPU
    std::map<InstanceId, Loaded> instances;
    std::vector<std::uint32_t> warm_running;  // batches by function
  };
  void pass(Time now);
  [[nodiscard]] static std::string wrong_place(const Machine& machine, const StartBatch& batch);

  std::vector<Machine> machines_;
  std::vector<Bytes> warm_;  // empty: functions are loaded and given up
  std::uint64_t next_epoch_ = 1;
  Bytes idle_;  // now
  double idle_byte_s_ = 0;
  Time counted_until_;
};

}  // namespace sluice::sim
