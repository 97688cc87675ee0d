// The whole state against itself: what must be true after every event.
#include <algorithm>

#include "base/text.h"
#include "core/scheduler.h"
#include "policy/slice_positions.h"

namespace sluice::core {
namespace {

// What the batches and instances of one invoker add up to.
struct Sums {
  std::uint32_t vcpu = 0, running = 0, promised = 0;
  std::vector<std::uint64_t> slices;  // by GPU
  std::vector<std::vector<std::uint32_t>> gpu_room;
  std::vector<std::uint32_t> host_room;
  std::vector<Bytes> gpu_memory, gpu_held_back;  // held back: booked, but not free yet
  Bytes host_memory;
};

}  // namespace

std::string Scheduler::broken_invariant() const {
  if (std::string broken = broken_books(); !broken.empty()) return broken;
  if (std::string broken = broken_queues(); !broken.empty()) return broken;
  const std::uint64_t ended = counters_.finished + counters_.failed + counters_.cancelled;
  if (counters_.accepted != ended + requests_.size()) {
    return str(counters_.accepted, " accepted, ", ended, " ended, ", requests_.size(), " in the system");
  }
  return "";
}

std::string Scheduler::broken_tenants() const {
  struct Held {
    std::uint64_t vcpu = 0, slices = 0;
  };
  std::vector<Held> held(tenants_.accounts().size());
  for (const Batch& batch : batches_.all()) {
    if (!batch.used || !batch.application.valid()) continue;
    Held& of_tenant = held[applications_.models()[batch.application.index()].tenant];
    of_tenant.vcpu += batch.configuration.vcpu;
    of_tenant.slices += batch.configuration.slices;
  }
  for (std::size_t t = 0; t < held.size(); ++t) {
    const TenantBooks::Account& account = tenants_.accounts()[t];
    if (account.vcpu == held[t].vcpu && account.slices == held[t].slices) continue;
    return str("tenant '", account.tenant, "' holds ", held[t].vcpu, " vCPUs and ", held[t].slices,
               " slices, counted are ", account.vcpu, " and ", account.slices);
  }
  return "";
}

std::string Scheduler::broken_books() const {
  std::vector<Sums> sums(books_.invokers().size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t gpus = books_.invokers()[i].gpus.size();
    sums[i].slices.resize(gpus);
    sums[i].gpu_memory.resize(gpus);
    sums[i].gpu_held_back.resize(gpus);
    sums[i].gpu_room.assign(gpus, std::vector<std::uint32_t>(applications_.functions().size()));
    sums[i].host_room.resize(applications_.functions().size());
  }
  std::size_t used = 0;
  for (const Batch& batch : batches_.all()) {
    if (!batch.used) continue;
    ++used;
    Sums& at = sums[batch.invoker.index()];
    at.vcpu += batch.configuration.vcpu;
    ++at.running;
    if (batch.members.empty() != !batch.application.valid() || batch.members.size() > batch.configuration.batch) {
      return str("batch ", batch.id.value(), " has ", batch.members.size(), " members for a batch of ",
                 batch.configuration.batch);
    }
    for (const policy::Waiting& member : batch.members) {
      if (!runs_.request_of(place_of(member))) continue;
      if (queues_[runs_.control_of(place_of(member)).queue].shared != batch.function) {
        return str("batch ", batch.id.value(), " mixes functions");
      }
    }
    if (batch.positions.slices == 0) continue;
    if (batch.positions.gpu >= at.slices.size()) {
      return str("batch ", batch.id.value(), " is on a GPU that is not there");
    }
    if ((at.slices[batch.positions.gpu] & batch.positions.slices) != 0) {
      return str("a slice of invoker ", batch.invoker.value(), " is booked twice");
    }
    at.slices[batch.positions.gpu] |= batch.positions.slices;
  }
  if (used != batches_.size()) return "batches and their index differ";
  if (std::string broken = broken_tenants(); !broken.empty()) return broken;
  for (const Request& request : requests_.all()) {
    if (!request.used) continue;
    for (const Promise& p : request.promises) ++sums[p.invoker.index()].promised;
  }
  for (const policy::Instance& instance : loads_.all()) {
    if (!instance.used) continue;
    Sums& at = sums[instance.invoker.index()];
    const Bytes memory = applications_.functions()[instance.function.index()].memory;
    std::uint32_t batches = 0;
    for (const Batch& batch : batches_.all()) batches += batch.used && batch.instance == instance.id ? 1 : 0;
    if (batches != instance.running) {
      return str("instance ", instance.id.value(), ": ", batches, " batches run, it counts ", instance.running);
    }
    const bool moves = instance.wanted != instance.level;
    if (instance.held_back && instance.wanted == Level::device) at.gpu_held_back[instance.gpu] += memory;
    for (const Level level : {instance.level, instance.wanted}) {
      if (memory_place(level) == MemoryPlace::device) at.gpu_memory[instance.gpu] += memory;
      if (memory_place(level) == MemoryPlace::host) at.host_memory += memory;
      if (!moves) break;
    }
    if (moves) continue;
    const std::uint32_t room = instance.batches - instance.running;
    if (instance.level == Level::device) at.gpu_room[instance.gpu][instance.function.index()] += room;
    if (instance.level == Level::host) at.host_room[instance.function.index()] += room;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const policy::Invoker& invoker = books_.invokers()[i];
    const Sums& at = sums[i];
    const std::uint32_t free = invoker.vcpu > at.vcpu ? invoker.vcpu - at.vcpu : 0;
    if (free != invoker.vcpu_free) {
      return str("invoker ", i, ": ", at.vcpu, " vCPUs run and ", invoker.vcpu_free, " are free of ", invoker.vcpu);
    }
    if (at.running != invoker.running) {
      return str("invoker ", i, ": ", at.running, " batches run, the books say ", invoker.running);
    }
    if (at.promised != invoker.reserved || at.promised + at.running != invoker.bookings.size()) {
      return str("invoker ", i, ": ", at.promised, " promises, the books say ", invoker.reserved);
    }
    if (invoker.memory - invoker.memory_free != at.host_memory)
      return str("invoker ", i, ": host memory does not add up");
    for (std::size_t f = 0; f < applications_.functions().size(); ++f) {
      const policy::SharedFunctionId function(static_cast<policy::SharedFunctionId::rep>(f));
      if (invoker.room.of(function) != at.host_room[f]) return str("invoker ", i, ": room on the host does not add up");
    }
    for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
      const policy::Gpu& gpu = invoker.gpus[g];
      if ((gpu.free ^ at.slices[g]) != policy::all_slices(gpu.slices)) {
        return str("invoker ", i, " GPU ", g, ": free and running slices do not add up");
      }
      if (gpu.memory - gpu.memory_free != at.gpu_memory[g] || gpu.memory_free + at.gpu_held_back[g] < Bytes{}) {
        return str("invoker ", i, " GPU ", g, ": memory does not add up");
      }
      for (std::size_t f = 0; f < applications_.functions().size(); ++f) {
        const policy::SharedFunctionId function(static_cast<policy::SharedFunctionId::rep>(f));
        if (gpu.room.of(function) != at.gpu_room[g][f]) return str("invoker ", i, " GPU ", g, ": room does not add up");
      }
    }
  }
  return "";
}

std::string Scheduler::broken_queues() const {
  std::vector<std::size_t> waits(requests_.all().size());
  const auto queues = queues_.all();
  const auto busy_queues = queues_.busy();
  for (std::size_t q = 0; q < queues.size(); ++q) {
    for (std::size_t i = 0; i < queues[q].waiting.size(); ++i) {
      const policy::Waiting& waiting = queues[q].waiting[i];
      if (!runs_.expects(place_of(waiting))) return str("queue ", q, " holds an invocation of a request that is over");
      ++waits[*runs_.request_of(place_of(waiting))];
    }
    const bool busy = std::binary_search(busy_queues.begin(), busy_queues.end(), static_cast<std::uint32_t>(q));
    if (busy != !queues[q].waiting.empty()) {
      return str("queue ", q, " is ", busy ? "empty but marked busy" : "not empty but marked idle");
    }
  }
  for (Slot r = 0; r < requests_.all().size(); ++r) {
    if (requests_[r].used && requests_[r].waiting.size() != waits[r]) {
      return str("request ", requests_[r].id.value(), ": ", waits[r], " invocations wait, it counts ",
                 requests_[r].waiting.size());
    }
  }
  return "";
}

}  // namespace sluice::core
