// Runnable: which configurations are worth waiting for. A queue that waits for one that no machine can ever start, or
// none where its function is loaded, would wait for ever. Used by schedulers that fix a configuration before they look
// at the machines, and by prewarming.
#pragma once
#include "policy/view.h"

namespace sluice::policy {

// Whether the invoker could start a batch of the queue with `c` if nothing ran there: it is large enough, has the kind
// of device, and the function is loaded there for it, or on its way.
[[nodiscard]] bool runs_at(const View& view, const Queue& queue, const Configuration& c, const Invoker& invoker);
// Whether some invoker could.
[[nodiscard]] bool runs_somewhere(const View& view, const Queue& queue, const Configuration& c);

// The least of the queue's configurations (plan::least) that runs somewhere; if none does, because nothing is loaded
// yet, the least of all.
[[nodiscard]] const Configuration& least_runnable(const View& view, const Queue& queue);

// As far as the function has to be loaded on the invoker so that one of its configurations can run there: device memory
// where there are slices and memory for it, else the host. none: nothing of it could ever run there.
[[nodiscard]] Level level_at(const View& view, const SharedFunction& function, const Invoker& invoker);

}  // namespace sluice::policy
