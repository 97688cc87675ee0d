// The schedulers by name.
#pragma once
#include <span>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace sluice::policy {

// An error suggests the nearest name.
[[nodiscard]] Result<Policies> make_scheduler(std::string_view name, const Parameters& parameters);
[[nodiscard]] std::span<const std::string_view> scheduler_names();

}  // namespace sluice::policy
