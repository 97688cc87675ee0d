// KeptCopies: outputs that workers left on their GPUs: fetched when somebody reads them who is not in the same process,
// released when nobody holds them any more, lost with their worker. Of the agent's thread; what is let go comes from
// any.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "data/kept.h"
#include "data/tensor.h"
#include "invoker/counters.h"
#include "invoker/waker.h"
#include "invoker/worker.h"

namespace sluice::invoker {

class KeptCopies {
 public:
  struct Hooks {
    std::function<Process*(ProcessId)> find;  // null: it is gone
    std::function<void(Process&, const std::string& why)> lose;
    std::function<void(ProcessId)> fetched;  // something of it was, or cannot be
  };
  // `waker` and `counters` must outlive it; what is kept need not be gone before.
  KeptCopies(Waker& waker, AgentCounters& counters, Hooks hooks);
  ~KeptCopies();

  // What a worker says it has kept of its outputs in `space`. Null: something else is kept there.
  [[nodiscard]] std::shared_ptr<data::Kept> keep(const Process& process, const data::Block& space,
                                                 const wire::Placed& output);
  enum class Readiness { ready, later, lost };
  // Whether batches of that process can read a tensor; what is elsewhere is on its way then.
  [[nodiscard]] Readiness bring(const data::Tensor& tensor, const Process& reader);
  // Fetches all that a process keeps, which is about to end. False: nothing is left that would be lost.
  [[nodiscard]] bool rescue(Process& process);
  void fetched(const Process& process, const wire::Fetched& answer);
  // The process is gone, and what it kept with it.
  void lose(ProcessId process);
  // Tells workers what was let go.
  void release();
  [[nodiscard]] bool has_released() const;
  // The first of the fetches that are not answered; none: all are.
  struct Awaited {
    ProcessId process;
    Time since;
  };
  [[nodiscard]] std::optional<Awaited> oldest_fetch() const;

 private:
  struct Entry {
    std::weak_ptr<data::Kept> kept;
    std::uint64_t size = 0;
    std::uint16_t gpu = 0;
    std::optional<Time> fetching;  // since then
  };
  using Entries = std::map<std::uint64_t, Entry>;  // by offset
  // What was let go, by any thread, also after this is gone.
  struct LetGo {
    mutable std::mutex mutex;
    Waker* waker = nullptr;               // guarded by mutex; null: nobody listens
    std::vector<data::KeptPlace> places;  // guarded by mutex
    void add(data::KeptPlace place);
  };
  void fetch(Process& process, std::uint64_t offset, Entry& entry);
  void forget(Entries& entries, Entries::iterator entry);

  AgentCounters& counters_;
  Hooks hooks_;
  std::shared_ptr<LetGo> let_go_ = std::make_shared<LetGo>();
  std::map<ProcessId, Entries> kept_;
  std::size_t fetches_ = 0;  // that are not answered
};

}  // namespace sluice::invoker
