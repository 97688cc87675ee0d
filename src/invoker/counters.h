// What an agent counts. Any thread reads it.
#pragma once
#include <atomic>
#include <cstdint>

namespace sluice::invoker {

struct AgentCounters {
  std::atomic<std::uint64_t> batches = 0, gathers = 0, bytes_gathered = 0, bytes_out = 0, cold_starts = 0, crashes = 0,
                             refused = 0;  // commands that nobody here carries out
};

}  // namespace sluice::invoker
