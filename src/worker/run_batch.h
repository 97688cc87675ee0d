// One batch from message to message: inputs are checked and mapped, the engine runs, its outputs are named by where
// they are. Used by both ways to serve.
#pragma once
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "wire/channel.h"
#include "wire/messages.h"
#include "worker/granted_space.h"
#include "worker/mapping.h"

namespace sluice::worker {

// A batch as its engine takes it. An error says what is wrong with it.
[[nodiscard]] Result<engine::Batch> batch_of(const wire::Run& run, const Mapping& mapping);

// Runs it. REQUIRES: `space` was made of run.outputs.
[[nodiscard]] wire::Ran run_batch(const wire::Run& run, engine::Engine& engine, const Mapping& mapping,
                                  GrantedSpace& space);

// In the length that messages allow, whatever a function has to say. False: the server is gone.
[[nodiscard]] bool send(wire::Channel& channel, wire::Ran ran);
[[nodiscard]] bool send(wire::Channel& channel, wire::Loaded loaded);
[[nodiscard]] bool send(wire::Channel& channel, const wire::FromWorker& message);

}  // namespace sluice::worker
