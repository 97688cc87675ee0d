// The schedulers by name.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "policy/aquatope.h"
#include "policy/policy.h"

namespace sluice::policy {

// What takes long to find and is the same for every run, made once and handed to many.
struct Prepared {
  std::shared_ptr<const AquatopePresets> aquatope;  // absent: each scheduler searches for itself
};

// An error suggests the nearest name.
[[nodiscard]] Result<Policies> make_scheduler(std::string_view name, const Parameters& parameters,
                                              const Prepared& prepared = {});
[[nodiscard]] std::span<const std::string_view> scheduler_names();

}  // namespace sluice::policy
