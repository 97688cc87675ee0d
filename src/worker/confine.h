// Confine: a worker gives up what its tenant must not have: another user's rights, the way to more rights, files that
// are not the system's nor its own. Used by `sluice-worker` before it serves and by the children of the parked parent.
#pragma once
#include <sys/types.h>

#include "base/result.h"
#include "wire/confinement.h"

namespace sluice::worker {

// For good. After an error the process must not go on. `parent`: whose end ends this process. It is asked for last: a
// change of user would clear it.
[[nodiscard]] Status confine(const wire::Confinement& confinement, pid_t parent);

// The version of landlock that the kernel has; 0: none.
[[nodiscard]] int landlock_version();

}  // namespace sluice::worker
