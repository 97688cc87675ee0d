#include "invoker/applications.h"

#include "base/check.h"
#include "domain/keepable.h"

namespace sluice::invoker {

void Applications::add(ApplicationId id, std::shared_ptr<const Application> application) {
  if (known_.size() <= id.index()) known_.resize(id.index() + 1);
  Known& known = known_[id.index()];
  known.application = std::move(application);
  known.profiles.clear();
  known.keeps = keepable_stages(*known.application);
  for (const Function& function : known.application->functions) {
    auto profile = profile::FunctionProfile::make(function);
    known.profiles.emplace_back();
    if (profile) known.profiles.back() = std::move(*profile);
  }
}

void Applications::forget(ApplicationId id) {
  Known& known = known_[id.index()];
  known = {.application = without_workflow(*known.application), .profiles = {}, .arena = nullptr, .keeps = {}};
}

const Function& Applications::function(ApplicationId application, FunctionId function) const {
  CHECK(application.index() < known_.size() && known_[application.index()].application != nullptr);
  return known_[application.index()].application->function(function);
}

const Function& Applications::function(const Instance& instance) const {
  return function(instance.application, instance.function);
}

const Body& Applications::body(const Instance& instance) const {
  const Function& runs = function(instance);
  if (instance.wanted == Level::device && runs.gpu) return *runs.gpu;
  return runs.cpu ? *runs.cpu : *runs.gpu;
}

bool Applications::keeps(ApplicationId application, StageId stage) const {
  const std::vector<bool>& stages = known_[application.index()].keeps;
  return stage.index() < stages.size() && stages[stage.index()];
}

const profile::FunctionProfile* Applications::profile(ApplicationId application, FunctionId function) const {
  const auto& profile = known_[application.index()].profiles[function.index()];
  return profile ? &*profile : nullptr;
}

const std::shared_ptr<data::Arena>& Applications::arena(ApplicationId application) {
  Known& known = known_[application.index()];
  if (known.arena == nullptr) {
    auto arena = arenas_.of(known.application->tenant);
    CHECK(arena.ok());
    known.arena = std::move(*arena);
  }
  return known.arena;
}

}  // namespace sluice::invoker
