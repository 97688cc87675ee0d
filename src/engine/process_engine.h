// An engine that runs any program: one JSON line in and one out for every row, as OpenWhisk's ActionLoop has it.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace sluice::engine {

// The program is started when the function is loaded, and again for the next batch after it died or answered something
// that is no JSON, which fails the batch. An answer with a key `error` fails its row alone.
// Caveat: rows run one after another, and a program that does not answer is waited for: deadlines are the server's.
[[nodiscard]] std::unique_ptr<Engine> make_process_engine();

}  // namespace sluice::engine
