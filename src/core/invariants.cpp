// The whole state against itself: what must be true after every event.
#include <algorithm>

#include "base/text.h"
#include "core/scheduler.h"

namespace sluice::core {

std::string Scheduler::broken_invariant() const {
  std::vector<std::uint32_t> vcpu(books_.invokers().size()), running(books_.invokers().size());
  std::vector<std::vector<std::uint64_t>> slices(books_.invokers().size());
  for (std::size_t i = 0; i < slices.size(); ++i) slices[i].resize(books_.invokers()[i].gpus.size());
  std::size_t used = 0;
  for (const Batch& batch : batches_) {
    if (!batch.used) continue;
    ++used;
    const std::size_t at = batch.invoker.index();
    vcpu[at] += batch.configuration.vcpu;
    ++running[at];
    if (batch.members.empty() || batch.members.size() > batch.configuration.batch)
      return str("batch ", batch.id.value(), " has ", batch.members.size(), " members for a batch of ",
                 batch.configuration.batch);
    if (batch.positions.slices == 0) continue;
    if (batch.positions.gpu >= slices[at].size())
      return str("batch ", batch.id.value(), " is on a GPU that is not there");
    if ((slices[at][batch.positions.gpu] & batch.positions.slices) != 0)
      return str("a slice of invoker ", at, " is booked twice");
    slices[at][batch.positions.gpu] |= batch.positions.slices;
  }
  if (used != batch_slots_.size()) return "batches and their index differ";
  for (std::size_t i = 0; i < vcpu.size(); ++i) {
    const policy::Invoker& invoker = books_.invokers()[i];
    if (vcpu[i] + invoker.vcpu_free != invoker.vcpu)
      return str("invoker ", i, ": ", vcpu[i], " vCPUs run and ", invoker.vcpu_free, " are free of ", invoker.vcpu);
    if (running[i] != invoker.running)
      return str("invoker ", i, ": ", running[i], " batches run, the books say ", invoker.running);
    for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
      const std::uint64_t all =
          invoker.gpus[g].slices >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << invoker.gpus[g].slices) - 1;
      if ((invoker.gpus[g].free ^ slices[i][g]) != all)
        return str("invoker ", i, " GPU ", g, ": free and running slices do not add up");
    }
  }
  std::vector<std::uint32_t> waits(requests_.size());
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    for (std::size_t i = 0; i < queues_[q].waiting.size(); ++i) {
      const policy::Waiting& waiting = queues_[q].waiting[i];
      if (!expected(waiting)) return str("queue ", q, " holds an invocation of a request that is over");
      ++waits[runs_[waiting.run].request];
    }
    const bool busy = std::binary_search(busy_queues_.begin(), busy_queues_.end(), static_cast<std::uint32_t>(q));
    if (busy != !queues_[q].waiting.empty())
      return str("queue ", q, " is ", busy ? "empty but marked busy" : "not empty but marked idle");
  }
  for (Slot r = 0; r < requests_.size(); ++r) {
    if (requests_[r].used && requests_[r].waiting != waits[r])
      return str("request ", requests_[r].id.value(), ": ", waits[r], " invocations wait, it counts ",
                 requests_[r].waiting);
  }
  const std::uint64_t ended = counters_.finished + counters_.failed + counters_.cancelled;
  if (counters_.accepted != ended + request_slots_.size())
    return str(counters_.accepted, " accepted, ", ended, " ended, ", request_slots_.size(), " in the system");
  return "";
}

}  // namespace sluice::core
