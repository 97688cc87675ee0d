// The whole state as bytes and back.
#include "core/scheduler.h"

namespace sluice::core {

// Indexes (slots by id) are derived and rebuilt.
void Scheduler::visit(Archive& archive) {
  visit_applications(archive);
  std::vector<Timer> timers(timers_.begin(), timers_.end());
  archive(now_, requests_, runs_, batches_, timers, arrivals_, answers_, releases_, cancels_, next_invocation_,
          next_batch_, next_command_, next_timer_, next_reservation_, next_run_, wake_, changed_, counters_,
          busy_queues_, load_failures_, instances_);
  for (policy::Queue& queue : queues_) archive(queue.waiting);
  books_.visit(archive);
  policies_.dispatch->visit(archive);
  policies_.admission->visit(archive);
  policies_.prewarm->visit(archive);
  if (policies_.transform != nullptr) policies_.transform->visit(archive);
  if (!archive.is_loading()) return;
  timers_ = {timers.begin(), timers.end()};
  request_slots_.clear();
  batch_slots_.clear();
  for (Slot i = 0; i < requests_.size(); ++i) {
    if (requests_[i].used) request_slots_.emplace(requests_[i].id, i);
  }
  for (Slot i = 0; i < batches_.size(); ++i) {
    if (batches_[i].used) batch_slots_.emplace(batches_[i].id, i);
  }
}

std::string Scheduler::save() {
  std::string out;
  Archive archive = Archive::saving(out);
  visit(archive);
  return out;
}

Status Scheduler::load(std::string_view saved) {
  Archive archive = Archive::loading(saved);
  visit(archive);
  if (!archive.ok() || !archive.at_end())
    return Error{ErrorCode::invalid, "the saved state is cut off or was made by another scheduler"};
  return Done{};
}

}  // namespace sluice::core
