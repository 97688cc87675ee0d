// What waits for functions to be loaded: how long it will, and since when it need not any more. Used by `sluice`.
#pragma once
#include <optional>
#include <span>

#include "policy/sluice_model.h"
#include "policy/view.h"

namespace sluice::policy {

// How long the stages from this one on will wait because their functions are not loaded: each can begin when the one
// before it is done and its own load has ended, and all loads begin now. `stages`: the queues of the model's stages.
// Caveat: of several branches only the first.
[[nodiscard]] double load_wait_ms(const View& view, const Queue& queue, const SluiceModel& model,
                                  std::span<const QueueId> stages);

// When the function was loaded there, if this is the first batch that it runs there since.
[[nodiscard]] std::optional<Time> loaded_at(const View& view, const Queue& queue, InvokerId invoker);

}  // namespace sluice::policy
