// Worker: one function in one process, as the agent keeps it: what it is doing, since when, and what it may write.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "data/arena.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "invoker/gather.h"
#include "invoker/spawner.h"

namespace sluice::invoker {

struct WorkerStatus {
  InstanceId instance;
  InvokerId invoker;
  std::string function;
  std::int64_t pid = 0;
  bool loaded = false, busy = false;
};

// A batch under way. Members whose inputs cannot be stacked run one group after the other.
struct Running {
  StartBatch start;
  Time began;
  std::vector<data::Tensors> inputs;               // by member
  std::vector<InvocationResult> results;           // likewise
  std::vector<std::vector<std::uint32_t>> groups;  // what is left to do, the next one last
  std::vector<std::uint32_t> group;                // what the worker has
  Gathered gathered;                               // its inputs
  data::Block space;                               // its outputs
  Duration measured;
};

struct Worker {
  InstanceId instance;
  InvokerId invoker;
  ApplicationId application;
  FunctionId function;
  Level level = Level::none, wanted = Level::none;
  WorkerProcess process;
  bool loaded = false;
  Time since, made, loaded_at;   // of the load: when it was asked for, its process was there, that had loaded
  std::optional<Time> ready_at;  // emulated functions take as long to load as they say
  std::optional<Running> running;
  std::size_t output_row_bytes = 0;     // of the largest row so far
  std::optional<Bytes> memory;          // it may hold; none: whatever it takes
  Time memory_seen;                     // looked at last
  std::string partial_line, last_line;  // of what it prints
  std::size_t log_bytes = 0;            // of the batch under way
};

}  // namespace sluice::invoker
