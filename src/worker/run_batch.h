// One batch from message to message: inputs are checked and mapped, or found on the device, the engine runs, its
// outputs are named by where they are. Used by both ways to serve.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "wire/channel.h"
#include "wire/messages.h"
#include "worker/granted_space.h"
#include "worker/kept_outputs.h"
#include "worker/mapping.h"

namespace sluice::worker {

// Where tensors may be.
struct Memory {
  const Mapping& mapping;
  const KeptOutputs* kept = nullptr;  // null: the worker has no device
};

// A batch as its engine takes it. An error says what is wrong with it.
[[nodiscard]] Result<engine::Batch> batch_of(const wire::Run& run, const engine::Engine& engine, const Memory& memory);

struct BatchAnswer {
  wire::Ran ran;
  std::vector<KeptOutputs::Output> kept = {};  // by output, null where it is in the arena; empty: all are
};
// Runs it. REQUIRES: `space` was made of run.outputs.
[[nodiscard]] BatchAnswer run_batch(const wire::Run& run, engine::Engine& engine, const Memory& memory,
                                    GrantedSpace& space);

// In the length that messages allow, whatever a function has to say. False: the server is gone.
[[nodiscard]] bool send(wire::Channel& channel, wire::Ran ran);
// What the server hears of as kept is in `kept` before it can ask for it.
[[nodiscard]] bool send(wire::Channel& channel, BatchAnswer answer, KeptOutputs& kept);
[[nodiscard]] bool send(wire::Channel& channel, wire::Loaded loaded);
[[nodiscard]] bool send(wire::Channel& channel, const wire::FromWorker& message);

}  // namespace sluice::worker
