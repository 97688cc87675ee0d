#include "live/installer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "live/ports_of.h"

namespace sluice::live {
namespace {

constexpr Duration kWarmMax = Duration::s(10);  // that a new version waits for its functions

// What an emulated function takes to load is part of what is tried out with it.
bool is_loaded_ahead(const Application& application) {
  return std::any_of(application.functions.begin(), application.functions.end(), [](const Function& function) {
    return function.min_instances > 0 || (function.cpu ? function.cpu : function.gpu)->runtime != Runtime::emulated;
  });
}

}  // namespace

void Installer::deploy(Deploying deploying, Time now) {
  const std::string tenant = deploying.application->tenant, name = deploying.application->name;
  hurry(tenant, name);
  std::vector<ApplicationId> functions;
  for (std::size_t i = 0; i < deploying.functions.size(); ++i) functions.push_back(install(deploying, i + 1));
  const ApplicationId id = install(deploying, 0);
  parts_.directory[id].functions = std::move(functions);
  Entering entering{.deploying = std::move(deploying), .id = id, .until = now + kWarmMax};
  if (!entering.deploying.warm || !is_loaded_ahead(*entering.deploying.application)) return enter(entering);
  hooks_.observe(CallsExpected{.application = id});
  entering_.push_back(std::move(entering));
}

void Installer::look(Time now) {
  for (std::size_t i = 0; i < entering_.size();) {
    if (entering_[i].until > now && !parts_.scheduler.is_warm(entering_[i].id)) {
      ++i;
      continue;
    }
    const Entering entering = std::move(entering_[i]);
    entering_.erase(entering_.begin() + static_cast<std::ptrdiff_t>(i));
    enter(entering);
  }
  const auto loaded = std::erase_if(loading_, [&](ApplicationId id) {
    const bool over = parts_.directory.find(id) == nullptr || parts_.scheduler.is_warm(id);
    if (over) parts_.directory[id].loading = false;
    return over;
  });
  if (loaded > 0) hooks_.changed();
}

std::optional<Time> Installer::due() const {
  std::optional<Time> next;
  for (const Entering& entering : entering_) {
    if (!next || entering.until < *next) next = entering.until;
  }
  return next;
}

void Installer::hurry(const std::string& tenant, const std::string& name) {
  std::vector<Entering> those;
  for (Entering& entering : entering_) {
    const Application& application = *entering.deploying.application;
    if (application.tenant == tenant && application.name == name) those.push_back(std::move(entering));
  }
  std::erase_if(entering_, [](const Entering& entering) { return entering.deploying.application == nullptr; });
  for (const Entering& entering : those) enter(entering);
}

// An application and its functions are one set: a new version takes the place of all that the old one had. A canary
// takes nobody's but that of the canary before it.
void Installer::enter(const Entering& entering) {
  const Deploying& deploying = entering.deploying;
  const std::string &tenant = deploying.application->tenant, &name = deploying.application->name;
  const auto before = parts_.directory.application_named(tenant, name);
  const auto canary = parts_.directory.canary_of(tenant, name);
  if (before || canary) hooks_.settle();
  if (canary) retire(*canary);
  if (deploying.share && before) {
    parts_.directory.add_canary(entering.id, *deploying.share, deploying.versions);
  } else {
    if (before) retire(*before);  // requests of the old one go on as they began
    parts_.directory.name(entering.id, before, deploying.versions);
  }
  const auto keeps = [](const Function& function) { return function.min_instances > 0; };
  if (std::ranges::any_of(deploying.application->functions, keeps) && !parts_.scheduler.is_warm(entering.id)) {
    parts_.directory[entering.id].loading = true;
    loading_.push_back(entering.id);
  }
  if (deploying.warm) hooks_.observe(CallsExpected{.application = entering.id, .expected = false});
  hooks_.changed();
  if (deploying.entered) deploying.entered();
}

ApplicationId Installer::install(const Deploying& deploying, std::size_t part) {
  const ApplicationId id = parts_.directory.next();
  const auto& application = part == 0 ? deploying.application : deploying.functions[part - 1];
  auto arena = parts_.arenas.of(application->tenant);
  CHECK(arena.ok());  // made before anybody was told to deploy it
  auto target = std::make_shared<const Target>(Target{id, application, std::move(*arena), deploying.version});
  const auto own = [&](const auto& of_functions) {  // of the application all, of a function alone its own
    const std::size_t first = part == 0 ? 0 : part - 1, end = part == 0 ? of_functions.size() : part;
    std::decay_t<decltype(of_functions)> out;
    for (std::size_t f = first; f < end && f < of_functions.size(); ++f) out.push_back(of_functions[f]);
    return out;
  };
  const auto profiled = std::make_shared<const std::vector<ProfileStanding>>(own(deploying.profiled));
  parts_.directory.add({.application = application,
                        .keys = own(deploying.keys),
                        .profiled = profiled,
                        .target = std::move(target),
                        .version = deploying.version,
                        .is_function = part > 0,
                        .reason = reason_of(*application, *profiled),
                        .stats = {},
                        .tenant = deploying.tenant,
                        .functions = {},
                        .files = deploying.files,
                        .inputs = inputs_of(*application),
                        .outputs = outputs_of(*application),
                        .batch_max = batch_max_of(*application),
                        .lists = goes_over_lists(*application)});
  parts_.link.deploy(id, application);
  parts_.standings.deployed(id);
  ApplicationDeployed event{id, application};
  if (part < deploying.plans.size()) event.brought.plans = deploying.plans[part];
  hooks_.observe(event);
  return id;
}

void Installer::remove(const Removing& removing) {
  hurry(removing.tenant, removing.application);
  if (!removing.canary_only) parts_.directory.found(removing.tenant, removing.application);
  const auto id = parts_.directory.application_named(removing.tenant, removing.application);
  if (!id) return;
  hooks_.settle();  // what came before is let in, and ends as it began
  if (const auto canary = parts_.directory.canary_of(removing.tenant, removing.application)) retire(*canary);
  if (removing.canary_only) {
    parts_.directory[*id].versions = removing.versions;
  } else {
    retire(*id);
  }
  hooks_.changed();
}

void Installer::retire(ApplicationId id) {
  for (const ApplicationId one : parts_.directory.retire(id)) {
    leaving_.push_back(one);
    hooks_.observe(ApplicationRemoved{one});
  }
}

void Installer::forget_retired() {
  std::erase_if(leaving_, [&](ApplicationId id) {
    if (!parts_.scheduler.is_retired(id)) return false;
    parts_.directory.forget(id);
    parts_.link.forget(id);
    hooks_.forgotten(id);
    return true;
  });
}

}  // namespace sluice::live
