// The clock: the one place that reads it. Unix time that never goes back within a process, whatever is done to the
// machine's clock meanwhile.
#pragma once
#include "base/time.h"

namespace sluice::data {

[[nodiscard]] Time now();

}  // namespace sluice::data
