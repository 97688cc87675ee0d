// What policies see: the queues, the machines and the applications as they are now. Plain data that the core owns and
// keeps up to date; policies only read it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/archive.h"
#include "base/time.h"
#include "domain/application.h"
#include "domain/cluster.h"
#include "domain/configuration.h"
#include "domain/ids.h"
#include "plan/frontier_planner.h"
#include "policy/ring.h"

namespace sluice::policy {

using QueueId = Id<struct QueueTag>;

// One invocation that could start now.
struct Waiting {
  InvocationId invocation;
  RequestId request;
  std::uint32_t run = 0;  // the core's: which run of a workflow (and which use of its slot), which stage and item of it
  std::uint32_t generation = 0;
  std::uint32_t stage = 0;
  std::uint32_t item = 0;
  Time ready;           // since when
  Time deadline;        // of the request
  InvokerId inputs_at;  // where its inputs are; none: with the request
  Bytes bytes;          // of its inputs
  double size = 1;      // relative to the profile's
  void visit(Archive& a) {
    a(invocation, request, run, generation, stage, item, ready, deadline, inputs_at, bytes, size);
  }
};

// Invocations that may be batched together: one stage of one application, oldest first.
struct Queue {
  QueueId id;
  ApplicationId application;
  FunctionId function;
  std::shared_ptr<const plan::FrontierPlanner> planner;  // the application's; a stage in an error handler has its own
  std::uint32_t model_stage = 0;                         // of the planner's model
  bool entry = false;                                    // a first stage: its inputs come with the request
  Ring<Waiting> waiting;
};

struct Gpu {
  std::uint32_t slices = 0;  // in all
  std::uint64_t free = 0;    // a bit each
  [[nodiscard]] std::uint32_t free_count() const { return static_cast<std::uint32_t>(__builtin_popcountll(free)); }
  void visit(Archive& a) { a(slices, free); }
};

struct Invoker {
  InvokerId id;
  bool usable = false;  // joined, not draining
  std::uint32_t vcpu = 0, vcpu_free = 0;
  std::vector<Gpu> gpus;
  SliceLayout layout = SliceLayout::any;
  DeviceKind device = DeviceKind::gpu();
  std::uint32_t running = 0;  // batches

  // The GPU with the fewest free slices that still has `slices` of them, ties to the lowest; gpus.size(): none.
  // On CPUs (slices 0) any GPU does.
  [[nodiscard]] std::size_t gpu_for(std::uint32_t slices) const;
  [[nodiscard]] bool fits(const Configuration& c) const {
    return usable && vcpu_free >= c.vcpu && (c.slices == 0 || gpu_for(c.slices) < gpus.size());
  }
  [[nodiscard]] std::uint32_t slices_free() const {
    std::uint32_t total = 0;
    for (const Gpu& gpu : gpus) total += gpu.free_count();
    return total;
  }
};

// An application as planners see it. Derived from the deployed application, never saved.
struct ApplicationModel {
  ApplicationId id;
  std::shared_ptr<const Application> application;
  std::shared_ptr<const plan::FrontierPlanner> planner;
};

struct View {
  Time now;
  std::span<const Queue> queues;                   // QueueId is the position
  std::span<const std::uint32_t> busy_queues;      // those that are not empty, ascending
  std::span<const Invoker> invokers;               // InvokerId is the position
  std::span<const ApplicationModel> applications;  // ApplicationId is the position
  [[nodiscard]] const Queue& queue(QueueId id) const { return queues[id.index()]; }
  [[nodiscard]] const ApplicationModel& application(ApplicationId id) const { return applications[id.index()]; }
};

}  // namespace sluice::policy
