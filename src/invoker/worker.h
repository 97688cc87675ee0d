// What the agent keeps: worker processes, the instances in them, and the batches that run.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "bus/resolver.h"
#include "data/arena.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "domain/gpu_form.h"
#include "domain/graph_use.h"
#include "invoker/crash_pauses.h"
#include "invoker/output_size.h"
#include "invoker/process_id.h"
#include "invoker/session.h"
#include "invoker/worker_log.h"

namespace sluice::invoker {

struct WorkerStatus {
  InstanceId instance;
  InvokerId invoker;
  std::string tenant, function;
  FunctionVersion version = 0;
  std::int64_t pid = 0;
  Level level = Level::process;  // as far as its process has it
  Bytes memory;                  // that loading it took, as its worker says: of its GPU where it is on one
  bool on_gpu = false;
  std::uint16_t gpu = 0;
  GpuForm form;
  GraphUse graphs;
};

struct Instance;

// A worker process. Usually it holds one instance; where AgentOptions::sharing says so, those of one tenant.
struct Process {
  ProcessId id;
  InvokerId invoker;
  std::string tenant;
  Runtime runtime = Runtime::emulated;
  std::uint16_t gpu = 0;
  bool on_gpu = false;             // on the one with that number, which is real
  bool shared = false;             // others of its kind may join
  std::optional<Session> session;  // none: it is being made
  std::optional<Time> make_at;     // then it will be: others of its function have crashed
  std::vector<Instance*> instances;
  std::uint32_t functions = 0;    // numbers given out
  std::size_t running = 0;        // batches
  std::uint32_t vcpus = 0;        // of those
  std::optional<Time> idle;       // since when nothing runs; none: something does, or it rests already
  bool memory_by_group = false;   // a control group keeps it to its memory; else it is looked at
  std::int64_t memory_kills = 0;  // by that group, of what a batch was told already
  Time memory_seen;               // looked at last
  Time made;
  std::optional<Time> closed;  // it closed its socket: how it ended is not known yet
  WorkerLog log;
  std::optional<Time> log_again;  // it prints so much that its log is not looked at until then

  // What all of its instances together may hold; none: one of them may hold whatever it takes.
  [[nodiscard]] inline std::optional<Bytes> memory_max() const;
};

// A function loaded into a process.
struct Instance {
  InstanceId id;
  InvokerId invoker;
  ApplicationId application;
  FunctionId function;
  FunctionVersion version = 0;
  std::uint16_t gpu = 0;
  Level level = Level::none, wanted = Level::none;
  Process* process = nullptr;
  std::uint32_t number = 0;  // of its function in the process
  bool loaded = false;
  bool leaving = false;             // evicted: it goes with the end of its last batch, or of its load
  bool unloading = false;           // its process was told
  std::optional<Level> moving;      // its process was told to take it off its GPU, or to put it back
  Time since, loaded_at;            // of the load: when it was asked for, when its process had loaded it
  std::optional<Time> ready_at;     // emulated functions take as long to load as they say
  std::uint32_t batches = 1;        // that it can run at once
  std::uint32_t running = 0;        // batches that are here
  std::uint32_t following = 0;      // of these: that wait for the end of others
  std::optional<Bytes> memory_max;  // it may hold; none: whatever it takes
  Bytes memory;                     // that loading it took, as its worker says
  GpuForm form;                     // on a GPU
  GraphUse graphs;                  // as its last batch told
  OutputSize outputs;

  [[nodiscard]] CrashPauses::Function what() const { return {application, function}; }
  // Batches it may be sent: on a GPU each that runs may have one that follows.
  [[nodiscard]] std::uint32_t room() const { return process->on_gpu ? batches * 2 : batches; }
};

inline std::optional<Bytes> Process::memory_max() const {
  Bytes sum;
  for (const Instance* instance : instances) {
    if (!instance->memory_max) return std::nullopt;
    sum += *instance->memory_max;
  }
  return sum;
}

// A batch under way. Members whose inputs cannot be stacked run one group after the other.
struct Running {
  StartBatch start;
  Instance* instance = nullptr;
  Time began;                                      // to hold what it takes
  std::optional<Time> cancelled;                   // since when nobody waits for it
  std::optional<Duration> timeout;                 // of its stage
  std::vector<data::Tensors> inputs;               // by member
  std::vector<InvocationResult> results;           // by member
  std::vector<std::vector<std::uint32_t>> groups;  // what is left to do, the next one last
  std::vector<std::uint32_t> group;                // what the worker has
  Duration measured, on_device;
  bool first = false;  // something was prepared on the way
  std::size_t log_bytes = 0;
  Time told;                                     // since when the worker may have it
  std::vector<bus::Resolver::Ticket> waits_for;  // objects of other machines
  std::size_t waiting = 0;                       // members that miss some
  bool reads = false;                            // they are inputs: nothing has run
  bool waits_for_kept = false;                   // among them what is on a GPU, and is being fetched
  bool follows = false;                          // batches that hold its slices or vCPUs are not over
};

}  // namespace sluice::invoker
