// Agent: carries out on this machine what the scheduler commands. It has no thread of its own: whoever drives it calls
// look(), and events come out of that call and of the others; so on one machine a batch costs no change of threads.
// Only making processes, which takes long, happens elsewhere. It can stand for several invokers at once, so that an
// emulated cluster fits on a laptop.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "data/object_store.h"
#include "domain/application.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "invoker/cold_starts.h"
#include "invoker/reaper.h"
#include "invoker/spawner.h"
#include "invoker/task_thread.h"
#include "invoker/vcpu_limit.h"
#include "invoker/waker.h"
#include "invoker/worker.h"
#include "profile/function_profile.h"

namespace sluice::invoker {

struct AgentOptions {
  Spawner::Options spawner;
  // A batch that takes longer than this, and than so many times what is expected, hangs.
  Duration hang_least = Duration::s(10);
  double hang_factor = 20;
  Duration load_max = Duration::s(120);
  bool control_groups = true;  // where they are allowed; else affinity, and looking
  std::uint64_t seed = 1;      // of the times of emulated functions
};

// All from within calls of the agent.
struct AgentHooks {
  std::function<void(Event)> event;
  std::function<void(BatchId batch, const std::string& line)> log;  // what a worker printed while the batch ran
};

struct AgentCounters {
  std::atomic<std::uint64_t> batches = 0, gathers = 0, bytes_gathered = 0, bytes_out = 0, cold_starts = 0, crashes = 0;
};

class Agent {
 public:
  Agent(AgentOptions options, std::shared_ptr<data::Arena> arena, data::ObjectStore& objects, AgentHooks hooks);
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
  void act(Command& command);
  // Deals with what has happened; does not wait.
  void look();
  // Before waiting with the waker: it wakes when there is something for look(), and at `until`.
  void listen(std::optional<Time> until);
  [[nodiscard]] Waker& waker() { return waker_; }

  [[nodiscard]] const ColdStarts& cold_starts() const { return cold_starts_; }

  // Any thread.
  [[nodiscard]] const AgentCounters& counters() const { return counters_; }
  [[nodiscard]] std::vector<WorkerStatus> workers() const;
  [[nodiscard]] const VcpuLimit& limits() const { return limits_; }

 private:
  struct Known {
    std::shared_ptr<const Application> application;
    std::vector<std::optional<profile::FunctionProfile>> profiles;  // by function; only emulated ones need theirs
  };
  // A process that was asked for, or why there is none.
  struct Spawned {
    InstanceId instance;
    Result<WorkerProcess> process;
  };

  [[nodiscard]] bool any_spawned();
  void take_spawned();
  void spawned(Worker& worker, WorkerProcess process);
  void load(const LoadInstance& command);
  void evict(const EvictInstance& command);
  void start_batch(StartBatch& command);
  void next_group(Worker& worker);
  void on_readable(InstanceId id, bool log);
  void on_message(Worker& worker, const wire::FromWorker& message);
  void on_loaded(Worker& worker, const wire::Loaded& loaded);
  void on_ran(Worker& worker, const wire::Ran& ran);
  void on_wanted(Worker& worker, const wire::Wanted& wanted);
  void finish(Worker& worker);
  void read_log(Worker& worker);
  void log_line(Worker& worker, std::string line);
  void end_log(Worker& worker);
  // The process is gone or must go: what ran fails, and the instance is no more.
  void lose(Worker& worker, const std::string& why);
  void remove(Worker& worker);
  // Without waiting.
  void end(InstanceId instance, WorkerProcess process, std::optional<Running> running);
  void look_at_clock();
  void look_at_memory(Worker& worker);
  // To the worker; pages of it that nobody has touched yet are counted as ours and not held against its memory.
  [[nodiscard]] std::optional<data::Block> space_for(Worker& worker, std::size_t bytes);
  [[nodiscard]] Time due() const;  // when to look at the clock next
  [[nodiscard]] Duration emulated_time(const StartBatch& start, std::uint32_t rows);
  [[nodiscard]] const Function& function_of(ApplicationId application, FunctionId function) const;
  [[nodiscard]] Worker* find(InstanceId id);
  [[nodiscard]] ColdStart& cold_start_of(const Worker& worker);
  void publish();

  AgentOptions options_;
  std::shared_ptr<data::Arena> arena_;
  data::ObjectStore& objects_;
  AgentHooks hooks_;
  AgentCounters counters_;
  ColdStarts cold_starts_;
  VcpuLimit limits_;
  Spawner spawner_;
  Rng luck_;

  Waker waker_;
  std::mutex spawned_mutex_;
  std::vector<Spawned> spawned_;  // guarded by spawned_mutex_
  std::unique_ptr<TaskThread> spawning_;
  Reaper ending_;

  std::vector<Known> applications_;  // by ApplicationId
  std::map<InstanceId, std::unique_ptr<Worker>> workers_;
  mutable std::mutex status_mutex_;
  std::vector<WorkerStatus> status_;  // guarded by status_mutex_
};

}  // namespace sluice::invoker
