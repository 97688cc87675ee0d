// One machine on which functions have to be loaded, as policies see it. Function i is run by stage i of one workflow
// and by nothing else; all times are in milliseconds.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "policy/loading.h"
#include "support/tree_builder.h"

namespace sluice::policy {

// A function: what an instance takes of a GPU's memory, how long it loads from nothing and from host memory, and how
// long one invocation runs on one slice and one vCPU.
struct Loadable {
  double gb = 1, load_ms = 100, raise_ms = 20, run_ms = 10;
};

class ColdMachine {
 public:
  ColdMachine(NodeGroup capacity, const std::vector<Loadable>& functions, SeriesParallelTree workflow)
      : model_(std::make_shared<plan::WorkflowModel>()) {
    Invoker machine{.id = InvokerId(0),
                    .usable = true,
                    .vcpu = capacity.vcpu,
                    .vcpu_free = capacity.vcpu,
                    .memory = capacity.memory,
                    .memory_free = capacity.memory};
    for (std::uint32_t g = 0; g < capacity.gpus; ++g) {
      machine.gpus.push_back({.slices = capacity.slices_per_gpu,
                              .free = (std::uint64_t{1} << capacity.slices_per_gpu) - 1,
                              .memory = capacity.gpu_memory,
                              .memory_free = capacity.gpu_memory});
    }
    machines_.push_back(std::move(machine));
    model_->tree = std::move(workflow);
    for (const Loadable& function : functions) add(function);
    for (Queue& queue : queues_) queue.model = model_;
    by_function_.resize(functions.size());
  }
  // The stages run one after the other.
  ColdMachine(const NodeGroup& capacity, const std::vector<Loadable>& functions)
      : ColdMachine(capacity, functions, tree_builder::chain_of(static_cast<std::uint32_t>(functions.size()))) {}

  ColdMachine& at(double ms) {
    now_ = time(ms);
    return *this;
  }
  // An instance in the memory of a GPU: ready, running something, or on its way there until `ms`.
  ColdMachine& ready(std::uint32_t function, std::uint16_t gpu = 0) { return add(function, gpu, Level::device); }
  ColdMachine& busy(std::uint32_t function, std::uint16_t gpu) {
    ready(function, gpu);
    instances_.back().running = 1;
    machines_[0].gpus[gpu].free &= machines_[0].gpus[gpu].free - 1;  // on the lowest free slice
    return *this;
  }
  ColdMachine& loading_until(double ms, std::uint32_t function) {
    add(function, 0, Level::device);
    instances_.back().level = Level::none;
    instances_.back().ready_at = time(ms);
    return *this;
  }
  // A copy in host memory.
  ColdMachine& on_host(std::uint32_t function) { return add(function, 0, Level::host); }
  ColdMachine& called_every(double ms, std::uint32_t function) {
    demands_[function] = {.calls = 2, .last = now_, .gap_ms = ms};
    return *this;
  }
  ColdMachine& waits_for(std::uint32_t function, double since_ms) {
    queues_[function].waiting.push_back({.invocation = InvocationId(next_invocation_++), .ready = time(since_ms)});
    return *this;
  }

  [[nodiscard]] View view() const {
    return {.now = now_,
            .queues = queues_,
            .invokers = machines_,
            .by_free = by_free_,
            .functions = functions_,
            .instances = instances_,
            .by_function = by_function_,
            .by_invoker = at_machine_,
            .demand = demands_,
            .transfer = transfer_};
  }
  [[nodiscard]] const std::shared_ptr<plan::WorkflowModel>& model() const { return model_; }
  [[nodiscard]] const std::vector<Queue>& queues() const { return queues_; }
  [[nodiscard]] const Instance& instance(InstanceId id) const { return instances_[id.value()]; }

 private:
  static Time time(double ms) { return Time() + Duration::ms(ms); }

  void add(const Loadable& function) {
    const auto i = static_cast<std::uint32_t>(functions_.size());
    functions_.push_back({.id = SharedFunctionId(i),
                          .memory = Bytes::gb(function.gb),
                          .cold_start = {.process = {},
                                         .host = Duration::ms(function.load_ms - function.raise_ms),
                                         .device = Duration::ms(function.raise_ms)},
                          .queues = {QueueId(i)}});
    queues_.push_back({.id = QueueId(i), .shared = SharedFunctionId(i), .model_stage = i});
    model_->stages.push_back({.name = "s", .candidates = {{configuration(1, 1, 1), function.run_ms, 1}}, .sd_ms = {0}});
    demands_.emplace_back();
  }
  ColdMachine& add(std::uint32_t function, std::uint16_t gpu, Level level) {
    const auto slot = static_cast<std::uint32_t>(instances_.size());
    instances_.push_back({.used = true,
                          .id = InstanceId(slot),
                          .function = SharedFunctionId(function),
                          .invoker = InvokerId(0),
                          .gpu = gpu,
                          .level = level,
                          .wanted = level});
    by_function_[function].push_back(slot);
    at_machine_[0].push_back(slot);
    Bytes& free = level == Level::device ? machines_[0].gpus[gpu].memory_free : machines_[0].memory_free;
    free = free - functions_[function].memory;
    return *this;
  }

  std::shared_ptr<plan::WorkflowModel> model_;
  Time now_;
  std::vector<Queue> queues_;
  std::vector<Invoker> machines_;
  FreeIndex by_free_;
  std::vector<SharedFunction> functions_;
  std::vector<Instance> instances_;
  std::vector<Slots> by_function_, at_machine_ = std::vector<Slots>(1);
  std::vector<Demand> demands_;
  Transfer transfer_;
  std::uint64_t next_invocation_ = 0;
};

}  // namespace sluice::policy
