// Events as lines of text, for people who look at a broken run.
#pragma once
#include <string>

#include "domain/events.h"

namespace sluice::sim {

[[nodiscard]] std::string describe(const Event& event, Time at);  // "12.5 ms BatchFinished batch 7, 2 results"

}  // namespace sluice::sim
