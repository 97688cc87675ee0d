// A request in words, for the commands that show one.
#pragma once
#include <string>
#include <string_view>

#include "data/json.h"

namespace sluice::cli {

// "a1" as the 16 digits that ids have; anything else as it is, encoded for a path.
[[nodiscard]] std::string full_id(std::string_view id);
// "met, slack 30 ms", "late by 11.2 ms", "failed in stage 'ocr': out of memory", "running".
[[nodiscard]] std::string outcome(const data::Json& request);
// "request ID of 'describe'   SLO 200 ms   met, slack 30 ms", a line.
[[nodiscard]] std::string heading(const data::Json& request);

}  // namespace sluice::cli
