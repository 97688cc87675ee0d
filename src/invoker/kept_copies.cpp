#include "invoker/kept_copies.h"

#include <utility>

#include "data/clock.h"

namespace sluice::invoker {

void KeptCopies::LetGo::add(data::KeptPlace place) {
  const std::lock_guard lock(mutex);
  if (waker == nullptr) return;
  places.push_back(std::move(place));
  waker->ring();
}

KeptCopies::KeptCopies(Waker& waker, AgentCounters& counters, Hooks hooks)
    : counters_(counters), hooks_(std::move(hooks)) {
  let_go_->waker = &waker;
}

KeptCopies::~KeptCopies() {
  const std::lock_guard lock(let_go_->mutex);
  let_go_->waker = nullptr;
}

std::shared_ptr<data::Kept> KeptCopies::keep(const Process& process, const data::Block& space,
                                             const wire::Placed& output) {
  const auto [entry, added] = kept_[process.id].try_emplace(output.offset);
  if (!added) return nullptr;
  data::KeptPlace place{.keeper = process.id.value(),
                        .invoker = process.invoker,
                        .space = space,
                        .offset = output.offset,
                        .size = output.size};
  auto out = std::make_shared<data::Kept>(std::move(place),
                                          [to = let_go_](data::KeptPlace gone) { to->add(std::move(gone)); });
  entry->second = {.kept = out, .size = output.size, .gpu = process.gpu, .fetching = {}};
  GpuCounters& gpu = counters_.gpus[process.gpu];
  ++gpu.kept;
  gpu.kept_bytes += output.size;
  return out;
}

KeptCopies::Readiness KeptCopies::bring(const data::Tensor& tensor, const Process& reader) {
  if (tensor.kept == nullptr || tensor.kept->fetched()) return Readiness::ready;
  if (tensor.kept->lost()) return Readiness::lost;
  const data::KeptPlace& place = tensor.kept->place();
  const ProcessId keeper(place.keeper);
  if (keeper == reader.id) return Readiness::ready;
  Process* process = hooks_.find(keeper);
  const auto entries = kept_.find(keeper);
  if (process == nullptr || entries == kept_.end()) return Readiness::lost;
  if (Entry& entry = entries->second.at(place.offset); !entry.fetching) fetch(*process, place.offset, entry);
  return tensor.kept->lost() ? Readiness::lost : Readiness::later;
}

// What cannot be told now is heard of when its worker is lost.
void KeptCopies::fetch(Process& process, std::uint64_t offset, Entry& entry) {
  const auto kept = entry.kept.lock();
  if (kept == nullptr) return;
  entry.fetching = data::now();
  ++fetches_;
  (void)process.session->fetch(offset, kept->place().space);
}

bool KeptCopies::rescue(Process& process) {
  const auto entries = kept_.find(process.id);
  if (entries == kept_.end()) return false;
  bool waits = false;
  for (auto& [offset, entry] : entries->second) {
    const auto kept = entry.kept.lock();
    if (kept == nullptr || kept->fetched() || kept->lost()) continue;
    if (!entry.fetching) fetch(process, offset, entry);
    waits = true;
  }
  return waits;
}

void KeptCopies::fetched(const Process& process, const wire::Fetched& answer) {
  const auto entries = kept_.find(process.id);
  if (entries == kept_.end()) return;
  const auto entry = entries->second.find(answer.offset);
  if (entry == entries->second.end()) return;
  entry->second.fetching.reset();
  --fetches_;
  GpuCounters& gpu = counters_.gpus[entry->second.gpu];
  ++gpu.fetches;
  const auto kept = entry->second.kept.lock();
  if (kept == nullptr) {
    forget(entries->second, entry);
  } else if (!answer.error.empty()) {
    kept->note_lost();
  } else {
    gpu.bytes_out += entry->second.size;
    kept->note_fetched();
  }
  hooks_.fetched(process.id);
}

void KeptCopies::lose(ProcessId process) {
  const auto entries = kept_.find(process);
  if (entries == kept_.end()) return;
  for (auto& [offset, entry] : entries->second) {
    if (const auto kept = entry.kept.lock()) kept->note_lost();
    counters_.gpus[entry.gpu].kept_bytes -= entry.size;
    if (entry.fetching) --fetches_;
  }
  kept_.erase(entries);
}

void KeptCopies::forget(Entries& entries, Entries::iterator entry) {
  counters_.gpus[entry->second.gpu].kept_bytes -= entry->second.size;
  entries.erase(entry);
}

// The space of what was let go is free once its worker was told: nothing else can be kept there before. Where a fetch
// is under way the session holds the space until that is answered.
void KeptCopies::release() {
  std::vector<data::KeptPlace> gone;
  {
    const std::lock_guard lock(let_go_->mutex);
    gone.swap(let_go_->places);
  }
  for (const data::KeptPlace& place : gone) {
    const ProcessId keeper(place.keeper);
    const auto entries = kept_.find(keeper);
    if (entries == kept_.end()) continue;  // it is gone
    const auto entry = entries->second.find(place.offset);
    if (entry != entries->second.end() && !entry->second.fetching) forget(entries->second, entry);
    Process* process = hooks_.find(keeper);
    if (process == nullptr || !process->session) continue;
    if (!process->session->release(place.offset) && !process->session->hung_up())
      hooks_.lose(*process, "does not read what it is told");
  }
}

bool KeptCopies::has_released() const {
  const std::lock_guard lock(let_go_->mutex);
  return !let_go_->places.empty();
}

std::optional<KeptCopies::Awaited> KeptCopies::oldest_fetch() const {
  std::optional<Awaited> out;
  if (fetches_ == 0) return out;
  for (const auto& [process, entries] : kept_) {
    for (const auto& [offset, entry] : entries) {
      if (entry.fetching && (!out || *entry.fetching < out->since)) out = Awaited{process, *entry.fetching};
    }
  }
  return out;
}

}  // namespace sluice::invoker
