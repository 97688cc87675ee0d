// What policies see: the queues, the machines and the applications as they are now. Plain data that the core owns and
// keeps up to date; policies only read it.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/archive.h"
#include "base/time.h"
#include "domain/application.h"
#include "domain/cluster.h"
#include "domain/configuration.h"
#include "domain/events.h"
#include "domain/experiment.h"
#include "domain/ids.h"
#include "plan/workflow_model.h"
#include "policy/demand.h"
#include "policy/derived.h"
#include "policy/free_index.h"
#include "policy/pace.h"
#include "policy/ring.h"

namespace sluice::policy {

using QueueId = Id<struct QueueTag>;
// A function of a tenant, whichever applications have it: same tenant, name and content.
using SharedFunctionId = Id<struct SharedFunctionTag>;

// One invocation that could start now.
struct Waiting {
  InvocationId invocation;
  RequestId request;
  std::uint32_t run = 0;  // the core's: which run of a workflow (and which use of its slot), which stage and item of it
  std::uint32_t generation = 0;
  std::uint32_t stage = 0;
  std::uint32_t item = 0;
  std::uint32_t attempts = 0;           // of it that failed
  Time ready;                           // since when
  Time arrival;                         // of the request
  Time deadline;                        // of the request
  InvokerId inputs_at;                  // where its inputs are; none: with the request
  Bytes bytes;                          // of its inputs
  std::optional<PicoDollars> to_spend;  // what is left of the request's limit of cost, if it has one
  ReservationId reservation;            // made for it when its request was admitted; none: nothing is promised
  InvokerId reserved_at;                // there
  Time promised, latest;                // when it is to start, and the last start with which its request is in time
  void visit(Archive& a) {
    a(invocation, request, run, generation, stage, item, attempts, ready, arrival, deadline, inputs_at, bytes, to_spend,
      reservation, reserved_at, promised, latest);
  }
};

// Invocations that may be batched together: one stage of one application, oldest first.
struct Queue {
  QueueId id;
  ApplicationId application;
  FunctionId function;
  SharedFunctionId shared;                           // the same function, whoever has it
  std::shared_ptr<const plan::WorkflowModel> model;  // the application's; a stage in an error handler has its own
  std::uint32_t model_stage = 0;                     // of the model
  const Stage* handler = nullptr;                    // of an error handler, planned alone; else in the model
  bool entry = false;                                // a first stage: its inputs come with the request
  Pace pace;
  Ring<Waiting> waiting;
};

// Something that is taken on an invoker for a time: by a batch that runs (until when it is expected to end) or for one
// that was promised.
struct Booking {
  std::uint64_t owner = 0;  // a batch, or a reservation
  bool reserved = false;
  bool ending = false;   // a batch that is about to end: what it takes counts as free, for a batch that follows it
  bool follows = false;  // a batch that begins when others have ended
  Time from, to;
  Configuration configuration;
  SlicePositions positions;
  SharedFunctionId function;  // none: of a batch that its machine brought along
  Time latest;                // a promise: the last start with which all requests it was made to are still in time
  QueueId queue;              // a promise: of those it was made to
  std::uint32_t members = 1;  // a promise: so many
  // Others of its queue may still be promised a place in its batch. Not where some of them began without the others:
  // those have no certain time any more (from is to), and start when they can.
  [[nodiscard]] bool open() const { return reserved && members < configuration.batch && from < to; }
  // Until when it waits for those it was made to.
  [[nodiscard]] Time closes() const { return std::min(latest, from + Duration::ns((to - from).count_ns() / 10)); }
  void visit(Archive& a) {
    a(owner, reserved, ending, follows, from, to, configuration, positions, function, latest, queue, members);
  }
};

// How many more batches of each function could start on what is loaded; SharedFunctionId is the position.
class InstanceRoom {
 public:
  [[nodiscard]] std::uint32_t of(SharedFunctionId function) const {
    return function.index() < room_.size() ? room_[function.index()] : 0;
  }
  void add(SharedFunctionId function, std::uint32_t batches) {
    if (function.index() >= room_.size()) room_.resize(function.index() + 1);
    room_[function.index()] += batches;
  }
  void take(SharedFunctionId function, std::uint32_t batches) {
    CHECK(of(function) >= batches);
    room_[function.index()] -= batches;
  }
  void visit(Archive& a) { a(room_); }

 private:
  std::vector<std::uint32_t> room_;
};

struct Gpu {
  std::uint32_t slices = 0;   // in all
  std::uint64_t free = 0;     // a bit each
  Bytes memory, memory_free;  // for instances
  InstanceRoom room;          // of instances in its memory
  [[nodiscard]] std::uint32_t free_count() const { return static_cast<std::uint32_t>(__builtin_popcountll(free)); }
  void visit(Archive& a) { a(slices, free, memory, memory_free, room); }
};

struct Invoker {
  InvokerId id;
  bool usable = false;  // joined, not draining
  bool warm = false;    // every function counts as loaded
  std::uint32_t vcpu = 0, vcpu_free = 0;
  Bytes memory, memory_free;  // of the host, for instances
  std::vector<Gpu> gpus;
  InstanceRoom room;  // of instances on the host, for configurations without slices
  SliceLayout layout = SliceLayout::any;
  DeviceKind device = DeviceKind::gpu();
  std::uint32_t running = 0;   // batches
  std::uint32_t reserved = 0;  // bookings that are promises
  std::uint32_t open = 0;      // bookings that are promises with places left
  std::uint32_t ending = 0;    // bookings of batches that are about to end
  Duration ahead = {};         // how long before its expected end a batch on slices counts as ending
  std::vector<Booking> bookings;

  // Whether slices of this kind of device are here; `gpu` is any kind.
  [[nodiscard]] bool has_device(DeviceKind kind) const { return kind == device || kind == DeviceKind::gpu(); }
  // Whether a batch could start now: vCPUs, device, free slices where the layout lets them start, and room in what is
  // loaded. Promises to others may still forbid it: the core looks at those when it books.
  [[nodiscard]] bool fits(const Configuration& c, SharedFunctionId function) const {
    if (!usable || vcpu_free < c.vcpu) return false;
    if (c.slices == 0) return warm || room.of(function) > 0;
    return has_device(c.device) && some_gpu_fits(c.slices, function);
  }
  // The machine itself, whatever runs there.
  [[nodiscard]] NodeGroup shape() const;
  // Whether a batch could start if nothing ran here and the function were loaded.
  [[nodiscard]] bool holds(const Configuration& c) const;
  [[nodiscard]] std::uint32_t slices_free() const {
    std::uint32_t total = 0;
    for (const Gpu& gpu : gpus) total += gpu.free_count();
    return total;
  }
  void visit(Archive& a) {
    a(id, usable, warm, vcpu, vcpu_free, memory, memory_free, gpus, room, layout, device, running, reserved, open,
      ending, ahead, bookings);
  }

 private:
  [[nodiscard]] bool some_gpu_fits(std::uint32_t slices, SharedFunctionId function) const;
};

// A function loaded on an invoker, or on its way there.
struct Instance {
  bool used = false;
  InstanceId id;
  SharedFunctionId function;
  InvokerId invoker;
  std::uint16_t gpu = 0;       // level device
  Level level = Level::none;   // what is ready
  Level wanted = Level::none;  // above level: being loaded; below: being given up
  std::uint32_t batches = 1;   // it can run at once
  std::uint32_t running = 0;
  Time idle_since;
  Time ready_at;           // loading: when it is expected to be ready
  bool held_back = false;  // loading: others leave first, the invoker was not told yet
  bool unused = false;     // no batch ran on it since it was loaded
  [[nodiscard]] bool loading() const { return wanted > level; }
  [[nodiscard]] bool idle() const { return running == 0 && wanted == level; }
  void visit(Archive& a) {
    a(used, id, function, invoker, gpu, level, wanted, batches, running, idle_since, ready_at, held_back, unused);
  }
};

// Derived from the applications that have it.
struct SharedFunction {
  SharedFunctionId id;
  std::uint64_t key = 0;      // of tenant, name and content
  ApplicationId application;  // one of them
  FunctionId function;
  Bytes memory;  // of one instance
  ColdStart cold_start;
  std::uint32_t min_instances = 0;  // that stay loaded: the most that any of its applications asks for
  Level level = Level::device;      // that its bodies need
  std::vector<QueueId> queues;      // of all of them
};

// What a tenant may still take at once, on all machines together, and what it may take if nothing of it runs.
struct TenantRoom {
  static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t vcpu = kNoLimit, slices = kNoLimit;
  std::uint32_t vcpu_max = kNoLimit, slices_max = kNoLimit;
  [[nodiscard]] bool covers(const Configuration& c) const { return c.vcpu <= vcpu && c.slices <= slices; }
  [[nodiscard]] bool ever_covers(const Configuration& c) const { return c.vcpu <= vcpu_max && c.slices <= slices_max; }
};

// An application as planners see it. Derived from the deployed application, never saved.
struct ApplicationModel {
  ApplicationId id;
  std::shared_ptr<const Application> application;
  std::shared_ptr<const plan::WorkflowModel> model;
  bool removed = false;
  std::uint32_t tenant = 0;  // position in View::tenants
  DerivedList derived = {};  // from its models, where plans were made elsewhere
};

using Slots = std::vector<std::uint32_t>;  // of View::instances

struct View {
  Time now;
  std::span<const Queue> queues;                   // QueueId is the position
  std::span<const std::uint32_t> busy_queues;      // those that are not empty, ascending
  std::span<const Invoker> invokers;               // InvokerId is the position
  const FreeIndex& by_free;                        // the same, by free slices
  std::span<const ApplicationModel> applications;  // ApplicationId is the position
  std::span<const SharedFunction> functions;       // SharedFunctionId is the position
  std::span<const Instance> instances;             // slots; `used` says which are there
  std::span<const TenantRoom> tenants;             // by tenant; none: nobody has a quota
  std::span<const Slots> by_function, by_invoker;  // slots of instances that are there, in no order
  std::span<const Demand> demand;                  // SharedFunctionId is the position; shorter: nothing is known
  std::span<const RequestAnnounced> announced;     // requests known ahead: those whose instant has not come
  const Transfer& transfer;                        // what moving inputs is believed to take
  [[nodiscard]] const Queue& queue(QueueId id) const { return queues[id.index()]; }
  [[nodiscard]] const ApplicationModel& application(ApplicationId id) const { return applications[id.index()]; }
  [[nodiscard]] std::span<const std::uint32_t> instances_of(SharedFunctionId function) const {
    return function.index() < by_function.size() ? std::span(by_function[function.index()])
                                                 : std::span<const std::uint32_t>();
  }
  [[nodiscard]] std::span<const std::uint32_t> instances_at(InvokerId invoker) const {
    return invoker.index() < by_invoker.size() ? std::span(by_invoker[invoker.index()])
                                               : std::span<const std::uint32_t>();
  }
  // Whether the queue's tenant may take so much now, wherever that is.
  [[nodiscard]] bool allowed(const Queue& queue, const Configuration& c) const {
    return tenants.empty() || tenants[application(queue.application).tenant].covers(c);
  }
  // Whether it may take so much if nothing of it runs.
  [[nodiscard]] bool ever_allowed(const Queue& queue, const Configuration& c) const {
    return tenants.empty() || tenants[application(queue.application).tenant].ever_covers(c);
  }
  // Whether a batch of the queue could start there now.
  [[nodiscard]] bool fits(const Queue& queue, const Configuration& c, std::uint32_t invoker) const {
    return invokers[invoker].fits(c, queue.shared) && allowed(queue, c);
  }
};

}  // namespace sluice::policy
