// The clock: the one place that reads it. Unix time that never goes back within a process, whatever is done to the
// machine's clock meanwhile.
#pragma once
#include "base/time.h"

namespace sluice::data {

[[nodiscard]] Time now();

// now() is never before `floor` from here on. Called at the start, with the last instant that an earlier process wrote
// down: the machine's clock may have been set back since.
void never_before(Time floor);

}  // namespace sluice::data
