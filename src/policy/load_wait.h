// What waits for functions to be loaded: how long it will, and since when it need not any more. Used by `sluice`.
#pragma once
#include <optional>
#include <span>

#include "policy/sluice_model.h"
#include "policy/view.h"

namespace sluice::policy {

// How much later a request ends because functions of the stages from this one on are not loaded: each stage can begin
// when those before it are done and its own load has ended, and all loads begin now. `stages`: the queues of the
// model's stages. Caveats: branches beside the stage at hand are taken to be done when its own is; an irregular region
// counts as its parts one after the other.
[[nodiscard]] double load_wait_ms(const View& view, const Queue& queue, const SluiceModel& model,
                                  std::span<const QueueId> stages);

// When the function was loaded there, if this is the first batch that it runs there since.
[[nodiscard]] std::optional<Time> loaded_at(const View& view, const Queue& queue, InvokerId invoker);

}  // namespace sluice::policy
