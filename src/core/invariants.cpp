#include "core/invariants.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"
#include "core/waiting.h"
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

std::string broken_tenants(const State& state) {
  struct Held {
    std::uint64_t vcpu = 0, slices = 0;
  };
  std::vector<Held> held(state.tenants.accounts().size());
  for (const Batch& batch : state.batches.all()) {
    if (!batch.used || !batch.application.valid()) continue;
    Held& of_tenant = held[state.applications.models()[batch.application.index()].tenant];
    of_tenant.vcpu += batch.configuration.vcpu;
    of_tenant.slices += batch.configuration.slices;
  }
  for (std::size_t t = 0; t < held.size(); ++t) {
    const TenantBooks::Account& account = state.tenants.accounts()[t];
    if (account.vcpu == held[t].vcpu && account.slices == held[t].slices) continue;
    return str("tenant '", account.tenant, "' holds ", held[t].vcpu, " vCPUs and ", held[t].slices,
               " slices, counted are ", account.vcpu, " and ", account.slices);
  }
  return "";
}

std::vector<Sums> empty_sums(const State& state) {
  std::vector<Sums> sums(state.books.invokers().size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t gpus = state.books.invokers()[i].gpus.size();
    sums[i].slices.resize(gpus);
    sums[i].gpu_memory.resize(gpus);
    sums[i].gpu_held_back.resize(gpus);
    sums[i].gpu_room.assign(gpus, std::vector<std::uint32_t>(state.applications.functions().size()));
    sums[i].host_room.resize(state.applications.functions().size());
  }
  return sums;
}

// Whether what it takes counts as free.
bool is_ending(const State& state, const Batch& batch) {
  const policy::Invoker& invoker = state.books.invokers()[batch.invoker.index()];
  return invoker.ending > 0 && std::any_of(invoker.bookings.begin(), invoker.bookings.end(), [&](const auto& booking) {
           return booking.ending && booking.owner == batch.id.value();
         });
}

// A batch follows those that end, and nobody begins before them.
std::string broken_order(const State& state, const Batch& batch) {
  for (const BatchId id : batch.after) {
    const Slot before = state.batches.find(id);
    if (before == kNoSlot || !is_ending(state, state.batches[before]))
      return str("batch ", batch.id.value(), " follows batch ", id.value(), ", which does not end");
  }
  return "";
}

// Adds up what runs; says what is wrong with a batch by itself.
std::string add_batches(const State& state, std::vector<Sums>& sums) {
  std::size_t used = 0;
  for (const Batch& batch : state.batches.all()) {
    if (!batch.used) continue;
    ++used;
    Sums& at = sums[batch.invoker.index()];
    const bool ending = is_ending(state, batch);
    at.vcpu += ending ? 0 : batch.configuration.vcpu;
    ++at.running;
    if (std::string broken = broken_order(state, batch); !broken.empty()) return broken;
    if (batch.members.empty() != !batch.application.valid() || batch.members.size() > batch.configuration.batch) {
      return str("batch ", batch.id.value(), " has ", batch.members.size(), " members for a batch of ",
                 batch.configuration.batch);
    }
    for (const policy::Waiting& member : batch.members) {
      if (!state.runs.request_of(place_of(member))) continue;
      if (state.queues[state.runs.control_of(place_of(member)).queue].shared != batch.function) {
        return str("batch ", batch.id.value(), " mixes functions");
      }
    }
    if (batch.positions.slices == 0) continue;
    if (batch.positions.gpu >= at.slices.size()) {
      return str("batch ", batch.id.value(), " is on a GPU that is not there");
    }
    if (ending) continue;
    if ((at.slices[batch.positions.gpu] & batch.positions.slices) != 0) {
      return str("a slice of invoker ", batch.invoker.value(), " is booked twice");
    }
    at.slices[batch.positions.gpu] |= batch.positions.slices;
  }
  if (used != state.batches.size()) return "batches and their index differ";
  return "";
}

// Likewise what is loaded.
std::string add_instances(const State& state, std::vector<Sums>& sums) {
  for (const policy::Instance& instance : state.loads.all()) {
    if (!instance.used) continue;
    Sums& at = sums[instance.invoker.index()];
    const Bytes memory = state.applications.functions()[instance.function.index()].memory;
    std::uint32_t batches = 0;
    for (const Batch& batch : state.batches.all()) batches += batch.used && batch.instance == instance.id ? 1 : 0;
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
  return "";
}

std::string broken_gpu(const State& state, std::size_t i, std::size_t g, const Sums& at) {
  const policy::Gpu& gpu = state.books.invokers()[i].gpus[g];
  if ((gpu.free ^ at.slices[g]) != policy::all_slices(gpu.slices)) {
    return str("invoker ", i, " GPU ", g, ": free and running slices do not add up");
  }
  if (gpu.memory - gpu.memory_free != at.gpu_memory[g] || gpu.memory_free + at.gpu_held_back[g] < Bytes{}) {
    return str("invoker ", i, " GPU ", g, ": memory does not add up");
  }
  for (std::size_t f = 0; f < state.applications.functions().size(); ++f) {
    const policy::SharedFunctionId function(static_cast<policy::SharedFunctionId::rep>(f));
    if (gpu.room.of(function) != at.gpu_room[g][f]) return str("invoker ", i, " GPU ", g, ": room does not add up");
  }
  return "";
}

std::string broken_invoker(const State& state, std::size_t i, const Sums& at) {
  const policy::Invoker& invoker = state.books.invokers()[i];
  const std::uint32_t free = invoker.vcpu > at.vcpu ? invoker.vcpu - at.vcpu : 0;
  if (free != invoker.vcpu_free) {
    return str("invoker ", i, ": ", at.vcpu, " vCPUs run and ", invoker.vcpu_free, " are free of ", invoker.vcpu);
  }
  if (at.running != invoker.running) {
    return str("invoker ", i, ": ", at.running, " batches run, the books say ", invoker.running);
  }
  std::uint32_t promises = 0, promised = 0, open = 0;
  for (const policy::Booking& booking : invoker.bookings) {
    if (!booking.reserved) continue;
    ++promises;
    promised += booking.members;
    open += booking.open() ? 1 : 0;
    if (booking.members == 0 || booking.members > booking.configuration.batch)
      return str("invoker ", i, ": ", booking.members, " places of ", booking.configuration.batch, " are promised");
  }
  if (promises != invoker.reserved || open != invoker.open || promises + at.running != invoker.bookings.size()) {
    return str("invoker ", i, ": ", promises, " promises, ", open, " of them open, the books say ", invoker.reserved,
               " and ", invoker.open);
  }
  if (at.promised != promised)
    return str("invoker ", i, ": requests hold ", at.promised, " promises, the books ", promised);
  if (invoker.memory - invoker.memory_free != at.host_memory)
    return str("invoker ", i, ": host memory does not add up");
  for (std::size_t f = 0; f < state.applications.functions().size(); ++f) {
    const policy::SharedFunctionId function(static_cast<policy::SharedFunctionId::rep>(f));
    if (invoker.room.of(function) != at.host_room[f]) return str("invoker ", i, ": room on the host does not add up");
  }
  for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
    if (std::string broken = broken_gpu(state, i, g, at); !broken.empty()) return broken;
  }
  return "";
}

std::string broken_books(const State& state) {
  std::vector<Sums> sums = empty_sums(state);
  if (std::string broken = add_batches(state, sums); !broken.empty()) return broken;
  if (std::string broken = broken_tenants(state); !broken.empty()) return broken;
  for (const Request& request : state.requests.all()) {
    if (!request.used) continue;
    for (const Promise& p : request.promises) ++sums[p.invoker.index()].promised;
  }
  if (std::string broken = add_instances(state, sums); !broken.empty()) return broken;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (std::string broken = broken_invoker(state, i, sums[i]); !broken.empty()) return broken;
  }
  return "";
}

std::string broken_queues(const State& state) {
  std::vector<std::size_t> waits(state.requests.all().size());
  const auto queues = state.queues.all();
  const auto busy_queues = state.queues.busy();
  for (std::size_t q = 0; q < queues.size(); ++q) {
    for (std::size_t i = 0; i < queues[q].waiting.size(); ++i) {
      const policy::Waiting& waiting = queues[q].waiting[i];
      if (!state.runs.expects(place_of(waiting)))
        return str("queue ", q, " holds an invocation of a request that is over");
      ++waits[*state.runs.request_of(place_of(waiting))];
    }
    const bool busy = std::binary_search(busy_queues.begin(), busy_queues.end(), static_cast<std::uint32_t>(q));
    if (busy != !queues[q].waiting.empty()) {
      return str("queue ", q, " is ", busy ? "empty but marked busy" : "not empty but marked idle");
    }
  }
  for (Slot r = 0; r < state.requests.all().size(); ++r) {
    if (state.requests[r].used && state.requests[r].waiting.size() != waits[r]) {
      return str("request ", state.requests[r].id.value(), ": ", waits[r], " invocations wait, it counts ",
                 state.requests[r].waiting.size());
    }
  }
  return "";
}

}  // namespace

std::string broken_invariant(const State& state) {
  if (std::string broken = broken_books(state); !broken.empty()) return broken;
  if (std::string broken = broken_queues(state); !broken.empty()) return broken;
  const std::uint64_t ended = state.counters.finished + state.counters.failed + state.counters.cancelled;
  if (state.counters.accepted != ended + state.requests.size()) {
    return str(state.counters.accepted, " accepted, ", ended, " ended, ", state.requests.size(), " in the system");
  }
  return "";
}

}  // namespace sluice::core
