#include "live/deployment.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "domain/limits.h"
#include "invoker/profiler.h"
#include "plan/frontier_planner.h"
#include "profile/function_profile.h"
#include "spec/include.h"
#include "spec/load.h"
#include "store/key.h"

namespace sluice::live {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, const std::string*>;

// Taken while nothing is known: the least configuration, with a wide spread. What is measured soon replaces it.
constexpr double kGuessMs = 20, kGuessSpreadMs = 5;

// Planning takes the square of the stages in time and memory, and everybody waits for some of it. At these limits that
// is a tenth of a second, and 24 MB.
constexpr std::size_t kStagesMax = 500, kPlanPointsMax = 1'000'000;

std::string plain(const std::string& path) {
  return fs::path(path).lexically_normal().generic_string();
}

Status check_paths(const Deployment& deployment) {
  constexpr std::size_t kLengthMax = 255;
  for (const Deployment::File& file : deployment.files) {
    const fs::path path(file.path);
    const bool outside = path.is_absolute() || file.path.empty() || file.path.size() > kLengthMax ||
                         plain(file.path).starts_with("..") || file.path.find('\0') != std::string::npos;
    if (outside) {
      return Error{ErrorCode::invalid, str("file '", file.path.substr(0, kLengthMax),
                                           "' is outside of the deployment: paths are relative and without `..`")};
    }
  }
  return Done{};
}

Files files_of(const Deployment& deployment) {
  Files out;
  for (const Deployment::File& file : deployment.files) out[plain(file.path)] = &file.content;
  return out;
}

struct Read {
  Application application;
  spec::Samples samples;
};
Result<Read> read(const Deployment& deployment, const Files& files, std::vector<std::string>& messages) {
  const spec::ReadFile from_memory = [&](const std::string& path) -> Result<std::string> {
    const auto it = files.find(plain(path));
    if (it == files.end()) return Error{ErrorCode::not_found, str("'", path, "' is not part of the deployment")};
    if (it->second->size() > limits::document_bytes_max) {
      return Error{ErrorCode::too_large,
                   str("has ", it->second->size(), " bytes; a document has at most ", limits::document_bytes_max)};
    }
    return *it->second;
  };
  const spec::Loaded loaded = spec::load(deployment.main, from_memory);
  std::string errors;
  for (const auto& diagnostic : loaded.diagnostics.sorted()) {
    const std::string text = to_string(diagnostic);
    if (loaded.document)
      messages.push_back(text);
    else
      errors += str(errors.empty() ? "" : "\n", text);
  }
  if (!loaded.document) return Error{ErrorCode::invalid, errors};
  if (const auto* application = std::get_if<Application>(&*loaded.document)) return Read{*application, loaded.samples};
  return Error{ErrorCode::invalid, str(deployment.main, " is not an application")};
}

bool fits_some(const Configuration& c, const std::vector<NodeGroup>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const NodeGroup& node) {
    return c.vcpu <= node.vcpu && (c.slices == 0 || (node.gpus > 0 && c.slices <= node.slices_per_gpu));
  });
}

Status check_fits(const Function& function, const std::vector<NodeGroup>& nodes) {
  const auto profile = profile::FunctionProfile::make(function);
  if (!profile) return profile.error();
  const auto all = profile->configurations();
  if (std::any_of(all.begin(), all.end(), [&](const Configuration& c) { return fits_some(c, nodes); })) return Done{};
  return Error{ErrorCode::unavailable,
               str("function '", function.name, "' fits no machine here: its least configuration is ", all.front().vcpu,
                   " vCPU and ", all.front().slices, " slices. A cluster that has them is given with --cluster FILE")};
}

// The function's own files and what else decides how long it takes. Models are named as seen from the document `main`.
struct Place {
  std::string tenant, main;
  const ModelFiles& models;
  const std::string& sample;  // JSON; empty: none
};
Result<std::uint64_t> place_files(Function& function, const Files& files, const Place& place) {
  Hash key;
  key.add(place.tenant);
  key.add(static_cast<std::uint64_t>(version_of(function)));
  if (!place.sample.empty()) key.add(place.sample);
  for (std::optional<Body>* body : {&function.cpu, &function.gpu}) {
    if (!*body || (*body)->model.empty()) continue;
    const auto it = files.find(plain(spec::beside(place.main, (*body)->model)));
    if (it == files.end()) {
      return Error{ErrorCode::not_found,
                   str("function '", function.name, "': model '", (*body)->model, "' is not part of the deployment")};
    }
    key.add(store::sha256_text(*it->second));
    auto path = place.models.keep((*body)->model, *it->second);
    if (!path) return path.error();
    (*body)->model = std::move(*path);
  }
  return key.value();
}

// What is known of how long a function takes; a guess where nothing is.
void find_profile(Prepared& out, std::size_t f, const FindProfile& find, bool dry_run) {
  Function& function = out.application.functions[f];
  ProfileStanding& standing = out.profiled.emplace_back();
  if (!std::holds_alternative<std::monostate>(function.profile)) return;
  if (auto known = find(out.keys[f])) {
    function.profile = std::move(*known);
    standing.state = ProfileState::measured;
    return;
  }
  const bool now = out.samples[f] || invoker::inputs_can_be_made(function);
  function.profile = ProfileTable{{{configuration(1, 1, 0), 1, kGuessMs, kGuessSpreadMs, std::nullopt}}};
  standing.state = now ? ProfileState::measuring : ProfileState::waiting;
  if (now) out.unprofiled.push_back({f, out.keys[f], out.samples[f]});
  out.messages.push_back(str("function '", function.name, "' has no profile: it ", dry_run ? "would be" : "is",
                             now ? " measured now and " : " measured with the inputs of its first request and ",
                             dry_run ? "run" : "runs", " one at a time ", now ? "meanwhile" : "until then"));
}

// A document that names no tenant, or the default one, becomes that of whoever deploys it.
Status give_owner(Application& application, const Principal& principal) {
  if (application.tenant == kDefaultTenant) application.tenant = principal.tenant;
  if (application.tenant == principal.tenant || principal.may(Role::admin)) return Done{};
  return Error{ErrorCode::invalid, str("the document is of tenant '", application.tenant, "', its key of tenant '",
                                       principal.tenant, "': only an admin deploys for others")};
}

Status say_plan(Prepared& out) {
  const auto profiles = plan::make_profiles(out.application);
  if (!profiles) return Done{};
  auto model = plan::make_model(out.application, *profiles);
  if (!model) return Done{};
  const plan::FrontierPlanner planner(std::move(*model));
  if (planner.points() > kPlanPointsMax) {
    return Error{ErrorCode::too_large,
                 str("its plans have ", planner.points(), " points; at most ", kPlanPointsMax,
                     " are kept. Fewer stages, or fewer `configurations` of them, make it smaller")};
  }
  const plan::Frontier& whole = planner.whole(1);
  if (whole.empty()) return Done{};
  const double slo = out.application.objective.latency.to_ms(), fastest = whole.fastest_ms();
  out.fits = fastest <= slo;
  const double shown = std::round(fastest * 100) / 100;
  out.messages.push_back(out.fits ? str("fits: the fastest plan takes ", shown, " ms of ", slo, " ms")
                                  : str("does not fit: the fastest plan takes ", shown, " ms, the objective is ", slo,
                                        " ms; requests will be late or refused"));
  return Done{};
}

}  // namespace

Result<Prepared> prepare(const Deployment& deployment, const ModelFiles& models, const std::vector<NodeGroup>& nodes,
                         const FindProfile& find) {
  if (const Status paths = check_paths(deployment); !paths) return paths.error();
  const Files files = files_of(deployment);
  Prepared out;
  auto document = read(deployment, files, out.messages);
  if (!document) return document.error();
  out.application = std::move(document->application);
  if (const Status owned = give_owner(out.application, deployment.principal); !owned) return owned.error();
  if (out.application.workflow.size() > kStagesMax) {
    return Error{ErrorCode::too_large, str("its workflow has ", out.application.workflow.size(),
                                           " stages; a server runs at most ", kStagesMax)};
  }
  for (std::size_t f = 0; f < out.application.functions.size(); ++f) {
    Function& function = out.application.functions[f];
    const auto sample = document->samples.find(function.name);
    const std::string json = sample == document->samples.end() ? "" : sample->second;
    auto key = place_files(function, files, {out.application.tenant, deployment.main, models, json});
    if (!key) return key.error();
    out.keys.push_back(*key);
    out.samples.emplace_back();
    if (!json.empty()) out.samples.back() = Sample::of_document(json);
    find_profile(out, f, find, deployment.dry_run);
    if (const Status fits = check_fits(function, nodes); !fits) return fits.error();
  }
  const auto known = [](const ProfileStanding& standing) { return is_known(standing.state); };
  if (!std::all_of(out.profiled.begin(), out.profiled.end(), known)) return out;
  if (const Status planned = say_plan(out); !planned) return planned.error();
  return out;
}

std::optional<OverQuota> never_allowed(const Application& application, const Quota& quota) {
  for (const Function& function : application.functions) {
    const auto profile = profile::FunctionProfile::make(function);
    if (!profile) continue;
    const auto all = profile->configurations();
    const auto allowed = [&](const Configuration& c) {
      return (!quota.vcpu || c.vcpu <= *quota.vcpu) && (!quota.slices || c.slices <= *quota.slices);
    };
    if (std::any_of(all.begin(), all.end(), allowed)) continue;
    const Configuration& least = all.front();
    const bool vcpus = quota.vcpu && least.vcpu > *quota.vcpu;
    return OverQuota{
        .needed = static_cast<double>(vcpus ? least.vcpu : least.slices),
        .available = static_cast<double>(vcpus ? *quota.vcpu : quota.slices.value_or(0)),
        .text = str("quota exceeded: function '", function.name, "' takes at least ", least.vcpu, " vCPU and ",
                    least.slices, " slices, allowed are ", quota.vcpu ? str(*quota.vcpu) : "any number of",
                    " vCPU and ", quota.slices ? str(*quota.slices) : "any number of", " slices"),
        .retry_after = std::nullopt};
  }
  return std::nullopt;
}

std::vector<Application> functions_alone(const Application& application) {
  std::vector<Application> out;
  for (const Function& function : application.functions) {
    Application alone{.name = str(application.name, ".", function.name),
                      .tenant = application.tenant,
                      .objective = application.objective,
                      .functions = {function},
                      .prices = application.prices};
    alone.workflow.stages.push_back({.name = function.name, .function = FunctionId(0)});
    out.push_back(std::move(alone));
  }
  return out;
}

}  // namespace sluice::live
