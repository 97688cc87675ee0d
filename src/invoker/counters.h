// What an agent counts. Any thread reads it.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::invoker {

// Of a GPU that is really there.
struct GpuCounters {
  std::array<std::atomic<std::uint64_t>, 64> busy_ns{};  // by slice
  std::atomic<std::uint64_t> batches = 0, captures = 0, bytes_in = 0, bytes_out = 0, loads = 0;
  std::atomic<std::uint64_t> kept = 0, fetches = 0;  // outputs that stayed on it, and those that were fetched later
  std::atomic<std::uint64_t> kept_bytes = 0;         // on it now
};

struct AgentCounters {
  explicit AgentCounters(std::size_t gpu_count = 0) : gpus(gpu_count) {}
  std::vector<GpuCounters> gpus;  // by number; as many as there were at the start
  std::atomic<std::uint64_t> batches = 0, gathers = 0, bytes_gathered = 0, bytes_out = 0, cold_starts = 0, crashes = 0,
                             refused = 0;  // commands that nobody here carries out
};

}  // namespace sluice::invoker
