// What readers see of the platform: applications, functions, machines and requests as plain data.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/money.h"
#include "base/time.h"
#include "data/arena.h"
#include "domain/application.h"
#include "domain/commands.h"
#include "domain/configuration.h"
#include "domain/event_parts.h"
#include "domain/ids.h"
#include "live/on_gpu.h"
#include "live/time_counts.h"

namespace sluice::live {

// Loading: since the start of the server not all instances that its functions keep loaded are. It can be called.
enum class ModelState : std::uint8_t { ready, loading, unavailable };

// How it is known how long a function takes. Until it is, the function runs one at a time.
enum class ProfileState : std::uint8_t {
  document,   // its document says it
  measured,   // here, or by an earlier start
  learned,    // and executions have changed what was measured or said
  waiting,    // the inputs of its first request will be measured with
  measuring,  // now, or when others have been
  failed
};
struct ProfileStanding {
  ProfileState state = ProfileState::document;
  std::string why;  // it failed, or waits although inputs could be made up
};
[[nodiscard]] constexpr bool is_known(ProfileState state) {
  return state <= ProfileState::learned;
}

struct Counted {  // how often and how long in all
  std::uint64_t count = 0, ns = 0;
};

// Since the start of the server.
struct ModelStats {
  std::uint64_t met = 0, late = 0, rejected = 0, failed = 0, cancelled = 0;
  // As Triton counts: of a function invocations that succeeded and batches, alone or inside of applications; of an
  // application requests that were answered, both times, since every one is a run of its own.
  std::uint64_t inferences = 0, executions = 0;
  std::int64_t last_inference_ms = 0;  // Unix time
  // Each is counted once an inference. A batch's time is that of every member; of an application all stages add up.
  Counted success, fail, queue, compute_input, compute_infer, compute_output;
  struct OfBatch {
    std::uint32_t size = 0;
    Counted infer;
  };
  std::vector<OfBatch> batches;  // by size
  struct OfStage {
    std::string name;
    Counted queue, infer;          // of its invocations
    std::vector<OfBatch> batches;  // by size
  };
  std::vector<OfStage> stages;  // those that ran, the first one first
  std::uint64_t pending = 0;
  Dollars cost = 0;

  // Counts of another version of it, which has ended: those that it has not answered stay its own.
  void add(const ModelStats& other);
};

// Ports that many snapshots share: read like a vector.
class Ports {
 public:
  Ports() = default;
  Ports(std::vector<Port> ports) : ports_(std::make_shared<const std::vector<Port>>(std::move(ports))) {}  // NOLINT
  operator const std::vector<Port>&() const { return all(); }                                              // NOLINT
  [[nodiscard]] const std::vector<Port>& all() const {
    static const std::vector<Port> kNone;
    return ports_ == nullptr ? kNone : *ports_;
  }
  [[nodiscard]] auto begin() const { return all().begin(); }
  [[nodiscard]] auto end() const { return all().end(); }
  [[nodiscard]] const Port* data() const { return all().data(); }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  [[nodiscard]] bool empty() const { return all().empty(); }
  [[nodiscard]] const Port& front() const { return all().front(); }

 private:
  std::shared_ptr<const std::vector<Port>> ports_;
};

// What of a model a call needs, and what does not change while it is deployed.
struct Target {
  ApplicationId id;
  std::shared_ptr<const Application> application;
  std::shared_ptr<data::Arena> arena;  // its tenant's
  std::uint32_t version = 1;
};

struct Canary;

// An application, or a function called as one.
struct Model {
  std::string tenant = "default", name;
  std::uint32_t version = 1;
  ModelState state = ModelState::ready;
  std::string reason;  // where not ready, or what is not profiled yet
  std::shared_ptr<const Application> application;
  std::shared_ptr<const std::vector<ProfileStanding>> profiled;  // by function; null: unavailable
  std::shared_ptr<const Target> target;                          // null: unavailable
  bool is_function = false;                                      // an implicit application of one stage
  Ports inputs, outputs;                                         // of the whole; empty where not declared
  std::uint32_t batch_max = 1;                                   // that its functions may be run with
  bool lists = false;                                            // it goes over lists that requests bring
  ModelStats stats;
  std::vector<std::uint32_t> versions = {};   // that are kept and can be gone back to, ascending
  std::shared_ptr<const Canary> canary = {};  // null: it gets all calls
};

using CallCount = std::atomic<std::uint64_t>;

// Another version of an application that gets a share of its calls.
struct Canary {
  Model model;
  double share = 0;                  // in (0, 1)
  std::shared_ptr<CallCount> calls;  // of both

  // Whether the next call is the canary's: after n calls it has had n times the share, rounded down.
  [[nodiscard]] bool takes_next() const {
    const auto n = static_cast<double>(calls->fetch_add(1, std::memory_order_relaxed));
    return static_cast<std::uint64_t>((n + 1) * share) > static_cast<std::uint64_t>(n * share);
  }
};

struct InstanceInfo {
  InstanceId id;
  std::string tenant = "default", function;
  FunctionVersion version = 0;
  Level level = Level::none;
  std::uint32_t running = 0;
  std::int64_t pid = 0;  // 0: no process
  std::optional<OnGpu> on_gpu = {};
};
struct GpuInfo {
  std::uint32_t slices = 0, free = 0;
  Bytes memory, memory_free;
  std::optional<GpuUse> use = {};  // of those that are really there
};
struct NodeInfo {
  InvokerId id;
  std::string name;
  std::string state;  // READY, DRAINING, LOST
  std::uint32_t vcpu = 0, vcpu_free = 0, running = 0;
  Bytes memory, memory_free;
  std::vector<GpuInfo> gpus;
  std::vector<InstanceInfo> instances;
  std::string vcpu_enforced, gpu_enforced, memory_enforced, workers_enforced;  // how, or "not enforced: why"
};

// How long functions took to start, since the start of the server, by what was waited for.
struct ColdStartStats {
  std::string tenant = "default", application, function;
  Counted process, load,
      ready;  // until its process was there; until that had loaded; what an emulated one takes longer
};

struct Snapshot {
  Time at, started;
  std::string scheduler, data_directory;
  std::vector<std::string> listening;
  std::vector<Model> models;  // by tenant; of each applications by name, then functions by name
  std::vector<NodeInfo> nodes;
  std::uint64_t in_system = 0, mailbox_size = 0, mailbox_max = 0;
  std::uint64_t waiting = 0;  // asynchronous requests that are accepted and cannot be let in yet
  Bytes objects_used, objects_max;
  std::uint64_t bytes_in = 0, bytes_out = 0, bytes_gathered = 0, gathers = 0, batches = 0;
  std::uint64_t cold_starts = 0, worker_crashes = 0, retries = 0;
  std::vector<ColdStartStats> cold;  // by tenant, application and function
  TimeCounts decisions, steps;       // a step: all that one turn of the scheduler's thread does
  std::uint64_t planned_here = 0;    // plans and tables that the scheduler's thread made itself

  [[nodiscard]] std::span<const Model> models_of(std::string_view tenant) const;
  // Null: none. Applications win over functions of the same name.
  [[nodiscard]] const Model* find(std::string_view tenant, std::string_view name) const;
  // The names of the machines where the function is loaded, whichever of its tenant's applications it was loaded for.
  [[nodiscard]] std::vector<std::string> machines_of(std::string_view tenant, const Function& function) const;
  // How it runs on a GPU; nothing: it is on none.
  [[nodiscard]] std::optional<OnGpu> on_gpu(std::string_view tenant, const Function& function) const;
};

enum class RequestState : std::uint8_t { running, met, late, rejected, failed, cancelled };

// One invocation of a request.
struct StageRecord {
  std::string stage, function;
  Time ready, start, end;  // end: zero while it runs
  InvokerId invoker;
  Configuration configuration;
  SlicePositions positions;
  std::uint32_t members = 1;  // of its batch
  std::uint32_t attempt = 0;
  bool cold = false;  // it waited for its function to be loaded
  // What it waited for between `ready` and `start`: what is left after these is for free vCPUs or slices.
  Duration loading, company;
  Duration retry;           // before `ready`: since the attempt before it had failed
  BatchReason reason = {};  // why this configuration
  std::string error;
  std::vector<std::string> log;  // what the worker printed meanwhile
};
struct RequestRecord {
  RequestId id;
  std::string tenant = "default";
  std::string application, caller_id;  // the caller's own id: of asynchronous ones
  std::uint32_t version = 1;           // 0: answered by a server that did not keep it
  Time arrival, deadline, finished;
  RequestState state = RequestState::running;
  bool asynchronous = false;
  Dollars cost = 0;
  std::string stage, error;  // where and why it failed
  std::vector<StageRecord> stages;
};
struct RequestQuery {
  std::string tenant, application;  // empty: all
  std::optional<RequestState> state;
  std::size_t limit = 30;
};

}  // namespace sluice::live
