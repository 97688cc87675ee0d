#include "core/applications.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace sluice::core {
namespace {

bool runs_on_gpus(const Function& function) {
  const auto profile = profile::FunctionProfile::make(function);
  return profile.ok() && std::any_of(profile->configurations().begin(), profile->configurations().end(),
                                     [](const Configuration& c) { return c.slices > 0; });
}

// By what a worker loads, and where: a function that was measured meanwhile is still the same.
std::uint64_t key_of(const std::string& tenant, const Function& function) {
  Hash hash;
  hash.add(tenant);
  hash.add(function.name);
  hash.add(code_of(function));
  hash.add(runs_on_gpus(function));
  return hash.value();
}

}  // namespace

// The same function of a tenant is one, whichever of its applications have it.
std::vector<policy::SharedFunctionId> Applications::share_functions(ApplicationId id, const Application& application) {
  std::vector<policy::SharedFunctionId> out;
  for (std::size_t f = 0; f < application.functions.size(); ++f) {
    const Function& function = application.functions[f];
    const std::uint64_t key = key_of(application.tenant, function);
    const auto it = std::find_if(functions_.begin(), functions_.end(),
                                 [&](const policy::SharedFunction& other) { return other.key == key; });
    if (it != functions_.end()) {
      if (controls_[it->application.index()].retired) {
        it->application = id;
        it->function = FunctionId(static_cast<FunctionId::rep>(f));
      }
      out.push_back(it->id);
      continue;
    }
    const policy::SharedFunctionId shared(static_cast<policy::SharedFunctionId::rep>(functions_.size()));
    functions_.push_back({.id = shared,
                          .key = key,
                          .application = id,
                          .function = FunctionId(static_cast<FunctionId::rep>(f)),
                          .memory = function.memory.value_or(Bytes{}),
                          .cold_start = function.cold_start,
                          .level = runs_on_gpus(function) ? Level::device : Level::host});
    learned_.emplace_back();
    out.push_back(shared);
  }
  return out;
}

// What is learned corrects these from now on.
void Applications::give_profiles(const Application& application, std::span<const policy::SharedFunctionId> shared) {
  for (std::size_t f = 0; f < shared.size(); ++f) {
    const Profile& given = application.functions[f].profile;
    Learned& learned = learned_[shared[f].index()];
    const Profile& known = learned.replaced ? *learned.replaced : learned.given;
    auto profile = profile::FunctionProfile::make(given);
    if (profile.ok() && known != given) learned = {.given = given, .profile = std::move(*profile)};
  }
}

void Applications::deploy(ApplicationId id, const std::shared_ptr<const Application>& application,
                          std::shared_ptr<const Plans> plans) {
  CHECK_MSG(id.index() == models_.size(), "applications are deployed in the order of their ids");
  if (plans == nullptr) {
    plans = make_plans(*application, {});
    ++plans_made_here_;
  }
  controls_.push_back(make_control(id, application, *plans, share_functions(id, *application), queues_));
  give_profiles(*application, controls_.back().shared);
  for (const policy::QueueId queue : controls_.back().queues) {
    functions_[queues_[queue].shared.index()].queues.push_back(queue);
  }
  models_.push_back({.id = id,
                     .application = application,
                     .model = plans->workflow,
                     .tenant = tenants_.number_of(application->tenant),
                     .derived = plans->derived});
  beliefs_.emplace_back();
  branches_.emplace_back();
  count_kept(id);
}

void Applications::remove(ApplicationId id) {
  if (id.index() >= models_.size() || std::exchange(models_[id.index()].removed, true)) return;
  leaving_.push_back(id);
  count_kept(id);
}

void Applications::expect_calls(const CallsExpected& event) {
  if (!takes_requests(event.application)) return;
  controls_[event.application.index()].calls_expected = event.expected;
  count_kept(event.application);
}

// How many instances of an application's functions stay loaded, for it and others that have them.
void Applications::count_kept(ApplicationId id) {
  for (const policy::SharedFunctionId shared : controls_[id.index()].shared) {
    policy::SharedFunction& function = functions_[shared.index()];
    function.min_instances = 0;
    for (const policy::QueueId at : function.queues) {
      const policy::Queue& queue = queues_[at];
      const policy::ApplicationModel& model = models_[queue.application.index()];
      if (model.removed) continue;
      const std::uint32_t asked = model.application->function(queue.function).min_instances;
      const std::uint32_t soon = controls_[queue.application.index()].calls_expected ? 1 : 0;
      function.min_instances = std::max({function.min_instances, asked, soon});
    }
  }
}

std::optional<policy::SharedFunctionId> Applications::shared(ApplicationId application, FunctionId function) const {
  if (application.index() >= controls_.size()) return std::nullopt;
  const auto& all = controls_[application.index()].shared;
  return function.index() < all.size() ? std::optional(all[function.index()]) : std::nullopt;
}

void Applications::change_profile(const ProfileChanged& event) {
  if (event.application.index() >= models_.size() || is_retired(event.application)) return;
  const Application& before = *application_of(event.application, beliefs_[event.application.index()].newest());
  if (event.function.index() >= before.functions.size()) return;
  auto changed = std::make_shared<Application>(before);
  changed->functions[event.function.index()].profile = *event.profile;
  const policy::SharedFunctionId shared = controls_[event.application.index()].shared[event.function.index()];
  auto profile = profile::FunctionProfile::make(*event.profile);
  CHECK_MSG(profile.ok(), profile.error().message);
  learned_[shared.index()] = {
      .given = {}, .profile = std::move(profile).value(), .replaced = *event.profile};  // learning begins again
  revise(event.application, std::move(changed));
}

}  // namespace sluice::core
