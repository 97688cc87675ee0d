// Applications that were removed: once nothing of them is left, their plans, workflows and queues are given back.
// Ids of applications are never used again, places of queues are.
#include <algorithm>
#include <set>
#include <utility>

#include "core/applications.h"

namespace sluice::core {
namespace {

struct SavedApplication {
  std::shared_ptr<const Application> deployed;
  Beliefs beliefs;
  std::vector<policy::QueueId> queues;  // ascending
  Branches branches;
  bool calls_expected = false, removed = false, retired = false;
  void visit(Archive& a) { a(deployed, beliefs, queues, branches, calls_expected, removed, retired); }
};

}  // namespace

std::vector<ApplicationId> Applications::left() const {
  std::vector<ApplicationId> out;
  for (const ApplicationId id : leaving_) {
    if (controls_[id.index()].in_use == 0) out.push_back(id);
  }
  return out;
}

void Applications::retire(ApplicationId id) {
  const Control gone = std::exchange(controls_[id.index()], {});
  std::erase(leaving_, id);
  for (const policy::QueueId queue : gone.queues) queues_.remove(queue);
  const auto kept = without_workflow(*gone.application);
  models_[id.index()] = {
      .id = id, .application = kept, .model = {}, .removed = true, .tenant = models_[id.index()].tenant};
  controls_[id.index()] = {.application = kept, .shared = gone.shared, .retired = true};
  beliefs_[id.index()] = {};
  branches_[id.index()] = {};
  for (const policy::SharedFunctionId shared : gone.shared) {
    policy::SharedFunction& function = functions_[shared.index()];
    std::erase_if(function.queues, [&](policy::QueueId queue) { return queues_.is_free(queue); });
    if (function.queues.empty()) learned_[shared.index()] = {};
    if (function.application != id || function.queues.empty()) continue;
    const policy::Queue& other = queues_[function.queues.front()];  // of the lowest application that is left
    function.application = other.application;
    function.function = other.function;
  }
}

void Applications::add_retired(ApplicationId id, const std::shared_ptr<const Application>& application) {
  auto shared = share_functions(id, *application);
  controls_.push_back({.application = application, .shared = std::move(shared), .retired = true});
  models_.push_back({.id = id, .application = application, .removed = true});
  beliefs_.emplace_back();
  branches_.emplace_back();
}

void Applications::visit(Archive& archive) {
  std::vector<SavedApplication> saved;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const Control& control = controls_[i];
    saved.push_back({.deployed = control.application,
                     .beliefs = beliefs_[i],
                     .queues = control.queues,
                     .branches = branches_[i],
                     .calls_expected = control.calls_expected,
                     .removed = models_[i].removed,
                     .retired = control.retired});
  }
  std::vector<std::uint32_t> free(queues_.free().begin(), queues_.free().end());
  archive(saved, free);
  if (archive.is_loading() && archive.ok()) {
    models_.clear();
    controls_.clear();
    beliefs_.clear();
    revised_.clear();
    branches_.clear();
    functions_.clear();
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
      expect_calls({.application = id, .expected = saved[i].calls_expected});
      if (saved[i].removed) remove(id);
    }
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (saved[i].retired) continue;
      const ApplicationId id = models_[i].id;
      beliefs_[i] = saved[i].beliefs;
      branches_[i] = saved[i].branches;
      if (beliefs_[i].waits()) revised_.push_back(id);
      const Belief& believed = beliefs_[i].believed();
      if (believed.revision > 0) believe(id, *plans_of(id, believed));
    }
    queues_.set_free({free.begin(), free.end()});
  }
  visit_learned(archive);
}

}  // namespace sluice::core
