// How long it takes to raise an instance to a level.
#pragma once
#include "domain/events.h"
#include "domain/profile.h"

namespace sluice::profile {

// The sum of the steps between two levels; nothing if the instance is already there or above.
[[nodiscard]] inline Duration load_time(const ColdStart& cold_start, Level from, Level to) {
  Duration sum;
  if (from < Level::process && to >= Level::process) sum += cold_start.process;
  if (from < Level::host && to >= Level::host) sum += cold_start.host;
  if (from < Level::device && to >= Level::device) sum += cold_start.device;
  return sum;
}

}  // namespace sluice::profile
