// The schedulers by name.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/aquatope.h"
#include "policy/esg_answers.h"
#include "policy/policy.h"

namespace sluice::policy {

// What takes long to find and is the same for every run, made once and handed to many.
struct Prepared {
  std::shared_ptr<const AquatopePresets> aquatope;  // absent: each scheduler searches for itself
  EsgLibrary esg;                                   // that two runs share: `known` only
};

// An error suggests the nearest name.
[[nodiscard]] Result<Policies> make_scheduler(std::string_view name, const Parameters& parameters,
                                              const Prepared& prepared = {});
// What this scheduler derives from the plans of an application that is about to be deployed on these machines; null
// for some. REQUIRES: there is such a scheduler.
[[nodiscard]] Derive derives_of(std::string_view name, const Parameters& parameters,
                                const std::vector<NodeGroup>& machines);
[[nodiscard]] std::span<const std::string_view> scheduler_names();

}  // namespace sluice::policy
