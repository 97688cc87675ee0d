// Runnable: which configurations are worth waiting for. A queue that waits for one that no machine can ever start, none
// where its function is loaded, or that is beyond its tenant's quota, would wait for ever. Used by schedulers that fix
// a configuration before they look at the machines, and by prewarming.
#pragma once
#include "policy/view.h"

namespace sluice::policy {

// Whether the invoker could start a batch of the queue with `c` if nothing ran there, nor anything of the tenant
// elsewhere: it is large enough, has the kind of device, and the function is loaded there for it, or on its way. A copy
// on the host that left device memory is loaded for nothing: it may go at any time.
[[nodiscard]] bool runs_at(const View& view, const Queue& queue, const Configuration& c, const Invoker& invoker);
// Whether some invoker could.
[[nodiscard]] bool runs_somewhere(const View& view, const Queue& queue, const Configuration& c);

// The least of the queue's configurations (plan::least) that runs somewhere; if none does, because nothing is loaded
// yet, the least of all. Of one invoker: the least that runs there; nullptr: none does.
[[nodiscard]] const Configuration& least_runnable(const View& view, const Queue& queue);
[[nodiscard]] const Configuration* least_runnable_at(const View& view, const Queue& queue, const Invoker& invoker);

// As far as the function has to be loaded on the invoker so that one of its configurations can run there: device memory
// where there are slices, also for its tenant, and memory for it, else the host. none: nothing of it could ever run
// there.
[[nodiscard]] Level level_at(const View& view, const SharedFunction& function, const Invoker& invoker);

// How many batches of the function could run at once at one place of the invoker, on one GPU or on the host, if nothing
// else ran there.
[[nodiscard]] std::uint32_t most_at_once(const View& view, const SharedFunction& function, const Invoker& invoker,
                                         Level level);

}  // namespace sluice::policy
