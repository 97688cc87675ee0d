// Agent: carries out on this machine what the scheduler commands. It has no thread of its own: whoever drives it calls
// look(), and events come out of that call and of the others; so on one machine a batch costs no change of threads.
// Only making processes, which takes long, happens elsewhere. It can stand for several invokers at once, so that an
// emulated cluster fits on a laptop.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/remark.h"
#include "bus/objects.h"
#include "data/arenas.h"
#include "data/object_store.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "invoker/applications.h"
#include "invoker/batches.h"
#include "invoker/cold_starts.h"
#include "invoker/counters.h"
#include "invoker/crash_pauses.h"
#include "invoker/gpu_forms.h"
#include "invoker/gpus.h"
#include "invoker/kept_copies.h"
#include "invoker/mps.h"
#include "invoker/patience.h"
#include "invoker/reaper.h"
#include "invoker/spawner.h"
#include "invoker/task_thread.h"
#include "invoker/vcpu_limit.h"
#include "invoker/waker.h"
#include "invoker/worker.h"

namespace sluice::invoker {

// How the functions of a runtime are put into processes.
struct Sharing {
  bool one_process = false;  // for all functions of a tenant on an invoker's GPU, or its CPUs; else one each
  std::uint32_t lanes = 1;   // batches that a process runs at once
};

struct AgentOptions : Patience {
  Spawner::Options spawner;
  bool control_groups = true;  // where they are allowed; else affinity, and looking
  // By runtime; where there is none a process has one function and runs one batch at a time: a crash costs one
  // function.
  std::map<Runtime, Sharing> sharing;
  Gpus gpus;               // of the one invoker that it stands for then
  GpuForms forms;          // that were found before
  std::uint64_t seed = 1;  // of the times of emulated functions
  // What other machines hold; null: there are none. Whoever drives the agent also drives this one, in the same thread.
  bus::Objects* others = nullptr;
};

// All from within calls of the agent.
struct AgentHooks {
  std::function<void(Event)> event;
  std::function<void(BatchId batch, const std::string& line)> log;  // what a worker printed while the batch ran
  OnRemark note;
  std::function<void(bus::Sampled)> sample;         // see want_sample()
  std::function<void(const GpuForms&)> forms = {};  // all of them, when there is a new one
};

class Agent {
 public:
  Agent(AgentOptions options, data::Arenas& arenas, data::ObjectStore& objects, AgentHooks hooks);
  ~Agent();  // stops
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  [[nodiscard]] Status start();
  // Ends all workers at once and waits for that; whatever they do is lost.
  void stop();

  // An application is told before the first command that names it.
  void deploy(ApplicationId id, std::shared_ptr<const Application> application);
  // No later batch is of it. Instances of its functions may still be loaded.
  void forget(ApplicationId id);
  // What all functions of a tenant together may take of this machine; nothing: all of it.
  void limit(const std::string& tenant, std::optional<std::uint32_t> vcpu);
  // Whether the inputs of the function's next invocation that succeeds are handed to the hook, once.
  void want_sample(ApplicationId application, FunctionId function, bool wanted) {
    batches_.want_sample(application, function, wanted);
  }
  void act(Command& command);
  // Deals with what has happened; does not wait.
  void look();
  // When look() has something to do even if the waker is not told; in the past: it has.
  [[nodiscard]] Time due() const;
  [[nodiscard]] Waker& waker() { return waker_; }

  [[nodiscard]] const ColdStarts& cold_starts() const { return cold_starts_; }
  // For a scheduler that has to learn what is going on here: batches that were started and not reported, and what is
  // loaded or being loaded. By id.
  [[nodiscard]] std::vector<RunningBatch> running(InvokerId invoker) const { return batches_.of(invoker); }
  [[nodiscard]] std::vector<InstanceStatus> loaded(InvokerId invoker) const;

  // Any thread.
  [[nodiscard]] const AgentCounters& counters() const { return counters_; }
  [[nodiscard]] std::vector<WorkerStatus> workers() const;
  [[nodiscard]] const VcpuLimit& limits() const { return limits_; }

 private:
  // A process that did not answer: others have its vCPUs.
  struct Lingering {
    Time end_at;
    std::unique_ptr<Process> process;
  };
  // A process that was asked for, or why there is none.
  struct Spawned {
    VcpuLimit::Worker worker;
    Result<WorkerProcess> process;
  };

  // Processes and the clock: agent.cpp.
  void take_spawned();
  void spawned(Process& process, WorkerProcess worker);
  // At once, or after the pause that its function has deserved.
  void make(Process& process);
  void spawn(Process& process);
  void on_readable(std::uint64_t key);
  void on_closed(Process& process);
  void read_log(Process& process);
  void end_line(Process& process);
  // The process is gone or must go: what ran there fails, and its instances are no more. With `end_at` it may go on
  // until then, for what it does besides answering: nobody hears it any more.
  void lose(Process& process, const std::string& why, std::optional<Time> end_at = std::nullopt);
  // Without waiting. What its batches hold is free when it is gone.
  void end(Process& process);
  void look_at_clock();

  // Instances: agent_instances.cpp.
  void load(const LoadInstance& command);
  void evict(const EvictInstance& command);
  [[nodiscard]] Process& process_for(const Instance& instance);
  void tell_to_load(Instance& instance);
  void on_loaded(Process& process, const wire::Loaded& loaded);
  void on_unloaded(Process& process, const wire::Unloaded& unloaded);
  // To where it is wanted, a GPU or the host's memory; once the move is over that is under way.
  void move(Instance& instance);
  void on_moved(Process& process, const wire::Moved& moved);
  void leave(Instance& instance);
  void remove(Instance& instance);
  [[nodiscard]] ColdStart& cold_start_of(const Instance& instance);

  [[nodiscard]] Instance* find(InstanceId id);
  [[nodiscard]] Process* find(ProcessId id);
  void publish();

  AgentOptions options_;
  data::Arenas& arenas_;
  data::ObjectStore& objects_;
  AgentHooks hooks_;
  AgentCounters counters_;
  ColdStarts cold_starts_;
  CrashPauses pauses_;
  VcpuLimit limits_;
  Spawner spawner_;
  std::unique_ptr<Mps> mps_;  // null: without

  Waker waker_;
  mutable std::mutex spawned_mutex_;
  std::vector<Spawned> spawned_;  // guarded by spawned_mutex_
  std::unique_ptr<TaskThread> spawning_;
  Reaper ending_;

  Applications applications_;
  GpuForms forms_;
  std::map<ProcessId, std::unique_ptr<Process>> processes_;
  std::map<InstanceId, std::unique_ptr<Instance>> instances_;
  std::vector<Lingering> lingering_;
  KeptCopies kept_;  // before batches_, which hold some
  Batches batches_;
  std::uint64_t next_process_ = 0;
  bool seen_all_ = false;  // that was readable at the last look
  bool stale_ = false;     // what is said of instances: published once a look
  mutable std::mutex status_mutex_;
  std::vector<WorkerStatus> status_;  // guarded by status_mutex_
};

}  // namespace sluice::invoker
