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
  std::vector<std::uint32_t> free(queues_.free().begin(), queues_.free().end());
  archive(saved, free);
  if (archive.is_loading() && archive.ok()) {
    models_.clear();
    controls_.clear();
    functions_.clear();
    load_failures_.clear();
    learned_.clear();
    leaving_.clear();
    std::size_t places = free.size();
    for (const SavedApplication& application : saved) places += application.queues.size();
    queues_.reset(places);
    for (std::size_t i = 0; i < saved.size(); ++i) {
      const ApplicationId id(static_cast<ApplicationId::rep>(i));
      if (saved[i].retired) {
        add_retired(id, saved[i].deployed);
        continue;
      }
      std::set<std::uint32_t> own;
      for (const policy::QueueId queue : saved[i].queues) {
        if (queue.index() < places) own.insert(queue.value());
      }
      queues_.set_free(std::move(own));
      deploy(id, saved[i].deployed);
      if (controls_.back().queues != saved[i].queues) return archive.fail();
      models_.back().removed = saved[i].removed;
      if (saved[i].removed) leaving_.push_back(id);
    }
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (saved[i].believed != nullptr && !saved[i].retired) believe(models_[i].id, saved[i].believed);
    }
    queues_.set_free({free.begin(), free.end()});
  }
  visit_learned(archive);
}

void Scheduler::count_uses(Archive& archive) {
  for (const Request& request : requests_.all()) {
    if (!request.used) continue;
    if (request.application.index() >= controls_.size()) return archive.fail();
    ++controls_[request.application.index()].in_use;
  }
  for (const Batch& batch : batches_.all()) {
    if (!batch.used) continue;
    if (!batch.application.valid()) continue;
    if (batch.application.index() >= controls_.size()) return archive.fail();
    ++controls_[batch.application.index()].in_use;
  }
}

// Indexes are derived and rebuilt.
void Scheduler::visit(Archive& archive) {
  visit_applications(archive);
  archive(now_, requests_, runs_, batches_, arrivals_, announced_, answers_, releases_, cancels_, next_invocation_,
          next_command_, next_reservation_, wake_, changed_, counters_, load_failures_, instances_);
  queues_.visit_waiting(archive);
  books_.visit(archive);
  policies_.dispatch->visit(archive);
  policies_.admission->visit(archive);
  policies_.prewarm->visit(archive);
  if (policies_.transform != nullptr) policies_.transform->visit(archive);
  if (archive.is_loading() && archive.ok()) count_uses(archive);
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
