// Applications that were removed: once nothing of them is left, their plans, workflows and queues are given back.
// Ids of applications are never used again, places of queues are.
#include <algorithm>
#include <utility>

#include "core/scheduler.h"

namespace sluice::core {

void Scheduler::retire_removed() {
  std::erase_if(leaving_, [&](ApplicationId id) {
    if (controls_[id.index()].in_use > 0) return false;
    retire(id);
    return true;
  });
}

void Scheduler::retire(ApplicationId id) {
  const Control gone = std::exchange(controls_[id.index()], {});
  for (const policy::QueueId queue : gone.queues) policies_.dispatch->removed(view(), queues_[queue]);
  for (const policy::QueueId queue : gone.queues) queues_.remove(queue);
  const auto kept = without_workflow(*gone.application);
  models_[id.index()] = {.id = id, .application = kept, .removed = true};
  controls_[id.index()] = {.application = kept, .shared = gone.shared, .retired = true};
  for (const policy::SharedFunctionId shared : gone.shared) {
    policy::SharedFunction& function = functions_[shared.index()];
    std::erase_if(function.queues, [&](policy::QueueId queue) { return queues_.is_free(queue); });
    if (function.application != id || function.queues.empty()) continue;
    const policy::Queue& other = queues_[function.queues.front()];  // of the lowest application that is left
    function.application = other.application;
    function.function = other.function;
  }
}

void Scheduler::add_retired(ApplicationId id, const std::shared_ptr<const Application>& application) {
  auto shared = share_functions(id, *application);
  controls_.push_back({.application = application, .shared = std::move(shared), .retired = true});
  models_.push_back({.id = id, .application = application, .removed = true});
}

}  // namespace sluice::core
