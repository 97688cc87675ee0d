// Events as lines of text, for people who look at a broken run.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "domain/events.h"

namespace sluice::sim {

// The kind at a place in Event: "RequestArrived".
[[nodiscard]] std::string_view event_kind(std::size_t index);
[[nodiscard]] std::string describe(const Event& event, Time at);  // "12.5 ms BatchFinished batch 7, 2 results"

}  // namespace sluice::sim
