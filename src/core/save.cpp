// The whole state as bytes and back.
#include "base/text.h"
#include "core/scheduler.h"

namespace sluice::core {
namespace {

constexpr std::string_view kSaveMagic = "sluicesave";
constexpr std::uint8_t kSaveVersion = 1;  // of the bytes; grows when what is saved changes

struct SavedApplication {
  std::shared_ptr<const Application> deployed, believed;  // believed: now, where that differs
  std::vector<policy::QueueId> queues;                    // ascending
  bool removed = false, retired = false;
  void visit(Archive& a) { a(deployed, believed, queues, removed, retired); }
};

}  // namespace

void Scheduler::visit_applications(Archive& archive) {
  std::vector<SavedApplication> saved;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const Control& control = controls_[i];
    const bool differs = models_[i].application != control.application;
    saved.push_back({.deployed = control.application,
                     .believed = differs ? models_[i].application : nullptr,
                     .queues = control.queues,
                     .removed = models_[i].removed,
                     .retired = control.retired});
  }
  std::vector<std::uint32_t> free(free_queues_.begin(), free_queues_.end());
  archive(saved, free);
  if (archive.is_loading() && archive.ok()) {
    models_.clear();
    controls_.clear();
    functions_.clear();
    queues_.clear();
    load_failures_.clear();
    learned_.clear();
    leaving_.clear();
    std::size_t places = free.size();
    for (const SavedApplication& application : saved) places += application.queues.size();
    for (std::uint32_t q = 0; q < places; ++q) queues_.push_back({.id = policy::QueueId(q)});
    for (std::size_t i = 0; i < saved.size(); ++i) {
      const ApplicationId id(static_cast<ApplicationId::rep>(i));
      if (saved[i].retired) {
        add_retired(id, saved[i].deployed);
        continue;
      }
      free_queues_.clear();
      for (const policy::QueueId queue : saved[i].queues) {
        if (queue.index() < places) free_queues_.insert(queue.value());
      }
      deploy(id, saved[i].deployed);
      if (controls_.back().queues != saved[i].queues) return archive.fail();
      models_.back().removed = saved[i].removed;
      if (saved[i].removed) leaving_.push_back(id);
    }
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (saved[i].believed != nullptr && !saved[i].retired) believe(models_[i].id, saved[i].believed);
    }
    free_queues_ = {free.begin(), free.end()};
  }
  visit_learned(archive);
}

void Scheduler::count_uses(Archive& archive) {
  for (const Request& request : requests_) {
    if (!request.used) continue;
    if (request.application.index() >= controls_.size()) return archive.fail();
    ++controls_[request.application.index()].in_use;
  }
  for (const Batch& batch : batches_) {
    if (!batch.used) continue;
    if (!batch.application.valid()) continue;
    if (batch.application.index() >= controls_.size()) return archive.fail();
    ++controls_[batch.application.index()].in_use;
  }
}

// Indexes (slots by id) are derived and rebuilt.
void Scheduler::visit(Archive& archive) {
  visit_applications(archive);
  std::vector<Timer> timers(timers_.begin(), timers_.end());
  archive(now_, requests_, runs_, batches_, timers, arrivals_, announced_, answers_, releases_, cancels_,
          next_invocation_, next_batch_, next_command_, next_timer_, next_reservation_, next_run_, wake_, changed_,
          counters_, busy_queues_, load_failures_, instances_);
  for (policy::Queue& queue : queues_) archive(queue.waiting);
  books_.visit(archive);
  policies_.dispatch->visit(archive);
  policies_.admission->visit(archive);
  policies_.prewarm->visit(archive);
  if (policies_.transform != nullptr) policies_.transform->visit(archive);
  if (!archive.is_loading() || !archive.ok()) return;
  count_uses(archive);
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
  std::string out(kSaveMagic);
  out += static_cast<char>(kSaveVersion);
  Archive archive = Archive::saving(out);
  visit(archive);
  return out;
}

Status Scheduler::load(std::string_view saved) {
  if (!saved.starts_with(kSaveMagic) || saved.size() == kSaveMagic.size())
    return Error{ErrorCode::invalid, "this is no saved state of a scheduler: it does not begin with 'sluicesave'"};
  const auto version = static_cast<std::uint8_t>(saved[kSaveMagic.size()]);
  if (version != kSaveVersion) {
    return Error{ErrorCode::invalid,
                 str("the saved state has format version ", version, "; this program reads ", kSaveVersion)};
  }
  Archive archive = Archive::loading(saved.substr(kSaveMagic.size() + 1));
  visit(archive);
  if (!archive.ok() || !archive.at_end())
    return Error{ErrorCode::invalid, "the saved state is cut off or was made by another scheduler"};
  return Done{};
}

}  // namespace sluice::core
