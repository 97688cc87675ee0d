// From a document with its files to an application that can be deployed here: read, checked, its files where workers
// find them, and profiles filled in where they are known. Slow; runs in a thread of its own.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/plans.h"
#include "domain/application.h"
#include "domain/cluster.h"
#include "live/budgets.h"
#include "live/model_files.h"
#include "live/sample.h"
#include "live/service.h"

namespace sluice::live {

// What is known of functions from before, by a key of their content.
using FindProfile = std::function<std::optional<Profile>(std::uint64_t key)>;

struct Unprofiled {
  std::size_t function = 0;  // position in the application
  std::uint64_t key = 0;
  std::optional<Sample> sample = {};  // to measure with; else inputs are made up
};

struct Prepared {
  Application application;
  std::vector<std::uint64_t> keys;             // of the functions' contents, by position
  std::vector<ProfileStanding> profiled;       // by function
  std::vector<std::optional<Sample>> samples;  // that the document gives, by function
  std::vector<Unprofiled> unprofiled;          // these got a guess and can be measured now
  std::vector<std::string> messages;
  bool fits = true;  // the objective can be met on an empty machine
  ModelFiles::Lease files;
  // Of the application, then of each function alone.
  std::vector<std::shared_ptr<const core::Plans>> plans;
};

// Model files are kept; nobody holds them yet. An error has all that is wrong with the document.
[[nodiscard]] Result<Prepared> prepare(const Deployment& deployment, const ModelFiles& models,
                                       const std::vector<NodeGroup>& nodes, const FindProfile& find);

// What is wrong if a function has no configuration that the quota of its tenant ever allows.
[[nodiscard]] std::optional<OverQuota> never_allowed(const Application& application, const Quota& quota);

// Each function of an application as one of its own: a workflow of one stage, called APPLICATION.FUNCTION.
[[nodiscard]] std::vector<Application> functions_alone(const Application& application);

}  // namespace sluice::live
