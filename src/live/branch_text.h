// What was learned of an application's conditions and fan-outs, as the text that the store keeps: a line for each,
// "share 0.25 STAGE" or "items 7 STAGE".
#pragma once
#include <string>
#include <string_view>

#include "domain/events.h"

namespace sluice::live {

[[nodiscard]] std::string branch_text(const BranchesKnown& known);
// Lines that are none of these, or whose number cannot be, are left out.
[[nodiscard]] BranchesKnown branches_of(std::string_view text);

}  // namespace sluice::live
