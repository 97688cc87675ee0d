#include "live/directory.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace sluice::live {
namespace {

Model model_of(const std::string& tenant, const std::string& name, const Installed& installed) {
  return {.tenant = tenant,
          .name = name,
          .version = installed.version,
          .state = installed.loading ? ModelState::loading : ModelState::ready,
          .reason = installed.loading ? "functions that stay loaded are being loaded" : installed.reason,
          .application = installed.application,
          .profiled = installed.profiled,
          .target = installed.target,
          .is_function = installed.is_function,
          .inputs = installed.inputs,
          .outputs = installed.outputs,
          .batch_max = installed.batch_max,
          .lists = installed.lists,
          .stats = installed.stats,
          .versions = installed.versions,
          .canary = {}};
}

std::string text_of(const ProfileStanding& standing) {
  switch (standing.state) {
    case ProfileState::waiting:
      return standing.why.empty() ? "waits for its first request to be profiled"
                                  : str("waits for its first request to be profiled, since it failed with inputs that ",
                                        "were made up: ", standing.why);
    case ProfileState::measuring:
      return "is being profiled";
    case ProfileState::failed:
      return str("could not be profiled: ", standing.why);
    case ProfileState::document:
    case ProfileState::measured:
    case ProfileState::learned:
      break;
  }
  return "";
}

}  // namespace

std::string reason_of(const Application& application, const std::vector<ProfileStanding>& profiled) {
  std::string out;
  for (std::size_t f = 0; f < profiled.size(); ++f) {
    if (is_known(profiled[f].state)) continue;
    out += str(out.empty() ? "" : "; ", "function '", application.functions[f].name, "' ", text_of(profiled[f]));
  }
  return out.empty() ? out : str(out, "; runs one at a time meanwhile");
}

void Installed::set_profiled(std::size_t function, ProfileStanding standing) {
  if (profiled == nullptr || function >= profiled->size()) return;
  auto changed = std::make_shared<std::vector<ProfileStanding>>(*profiled);
  (*changed)[function] = std::move(standing);
  reason = reason_of(*application, *changed);
  profiled = std::move(changed);
}

Installed* Directory::find(ApplicationId id) {
  const bool there = id.index() < installed_.size() && !installed_[id.index()].removed;
  return there ? &installed_[id.index()] : nullptr;
}

std::optional<ApplicationId> Directory::application_named(const std::string& tenant, const std::string& name) const {
  const auto names = names_.find(tenant);
  if (names == names_.end()) return std::nullopt;
  const auto found = names->second.find(name);
  const bool is_one = found != names->second.end() && !installed_[found->second.index()].is_function;
  return is_one ? std::optional(found->second) : std::nullopt;
}

std::optional<ApplicationId> Directory::canary_of(const std::string& tenant, const std::string& name) const {
  const auto id = application_named(tenant, name);
  return id ? installed_[id->index()].canary : std::nullopt;
}

void Directory::add_canary(ApplicationId id, double share, std::vector<std::uint32_t> versions) {
  const Application& application = *installed_[id.index()].application;
  Installed& serving = installed_[application_named(application.tenant, application.name)->index()];
  serving.canary = id;
  serving.canary_share = share;
  serving.calls = std::make_shared<CallCount>(0);
  serving.versions = std::move(versions);
}

void Directory::name(ApplicationId id, std::optional<ApplicationId> before, std::vector<std::uint32_t> versions) {
  if (before) take_over(*before, id);
  installed_[id.index()].versions = std::move(versions);
  const Installed& named = installed_[id.index()];
  found(named.application->tenant, named.application->name);
  Names& names = names_[named.application->tenant];
  names[named.application->name] = id;
  // A function is called by its own name as well, unless something else has it.
  for (const ApplicationId function : named.functions) {
    const Application& alone = *installed_[function.index()].application;
    names.try_emplace(alone.name, function);
    names.try_emplace(alone.functions.front().name, function);
  }
}

template <class Visit>
void Directory::each_alike(ApplicationId one, ApplicationId other, Visit visit) {
  visit(installed_[one.index()].stats, installed_[other.index()].stats);
  for (const ApplicationId a : installed_[one.index()].functions) {
    for (const ApplicationId b : installed_[other.index()].functions) {
      if (installed_[a.index()].application->name != installed_[b.index()].application->name) continue;
      visit(installed_[a.index()].stats, installed_[b.index()].stats);
    }
  }
}

void Directory::take_over(ApplicationId before, ApplicationId id) {
  each_alike(before, id, [](ModelStats& from, ModelStats& to) { to = from; });
}

std::vector<ApplicationId> Directory::retire(ApplicationId id) {
  std::vector<ApplicationId> all = installed_[id.index()].functions;
  all.push_back(id);
  Names& names = names_[installed_[id.index()].application->tenant];
  for (const ApplicationId one : all) {
    std::erase_if(names, [&](const auto& entry) { return entry.second == one; });
    installed_[one.index()].removed = true;
  }
  const auto serving = names.find(installed_[id.index()].application->name);
  if (serving != names.end() && installed_[serving->second.index()].canary == id) {
    installed_[serving->second.index()].canary.reset();
    each_alike(id, serving->second, [](ModelStats& from, ModelStats& to) { to.add(from); });
  }
  return all;
}

void Directory::miss(Missing missing) {
  auto none = std::make_shared<const Application>(Application{.name = missing.application, .tenant = missing.tenant});
  missing_[{missing.tenant, missing.application}] = {.tenant = missing.tenant,
                                                     .name = missing.application,
                                                     .version = missing.version,
                                                     .state = ModelState::unavailable,
                                                     .reason = std::move(missing.reason),
                                                     .application = std::move(none)};
}

std::vector<Model> Directory::models() const {
  std::vector<Model> out;
  for (const auto& [tenant, names] : names_) {
    for (const auto& [name, id] : names) {
      const Installed& installed = installed_[id.index()];
      Model& model = out.emplace_back(model_of(tenant, name, installed));
      if (!installed.canary) continue;
      model.canary =
          std::make_shared<const Canary>(Canary{.model = model_of(tenant, name, installed_[installed.canary->index()]),
                                                .share = installed.canary_share,
                                                .calls = installed.calls});
    }
  }
  for (const auto& [name, model] : missing_) out.push_back(model);
  std::sort(out.begin(), out.end(), [](const Model& a, const Model& b) {
    return std::tie(a.tenant, a.is_function, a.name) < std::tie(b.tenant, b.is_function, b.name);
  });
  return out;
}

}  // namespace sluice::live
