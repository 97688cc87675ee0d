// Batches: those that run here. Inputs are read and gathered, the worker is told, its answer checked and kept.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "bus/link.h"
#include "invoker/answered.h"
#include "invoker/batch_reads.h"
#include "invoker/counters.h"
#include "invoker/crash_pauses.h"
#include "invoker/kept_copies.h"
#include "invoker/patience.h"
#include "invoker/results.h"
#include "invoker/vcpu_limit.h"

namespace sluice::invoker {

class Batches {
 public:
  struct Parts {  // of the agent
    Applications& applications;
    data::ObjectStore& objects;
    bus::Objects* others = nullptr;  // null: there are no other machines
    CrashPauses& pauses;
    VcpuLimit& limits;
    AgentCounters& counters;
    KeptCopies& kept;
    bool keeps = false;  // outputs may stay on GPUs between stages
  };
  struct Hooks {
    std::function<void(Event)> event;
    std::function<void(BatchId, const std::string& line)> log;   // may be none
    std::function<void(Process&, const std::string& why)> lose;  // it cannot go on
    std::function<void(ProcessId, const std::string& why)> lose_if_there;
    std::function<void(Process&)> ending;      // a batch in it will be over
    std::function<void(Instance&)> over;       // a batch of it is
    std::function<void(bus::Sampled)> sample;  // may be none
    std::function<void()> changed;             // what is said of an instance
  };
  Batches(Patience patience, std::uint64_t seed, Parts parts, Hooks hooks);

  // `instance`: null if it is not there.
  void start(StartBatch& command, Instance* instance);
  void cancel(const CancelBatch& command);
  void take(Process& process, Session::Answer& answer);
  // Something that batches may wait for has come about: what was kept on a GPU was fetched or is lost, others are over.
  void go_on();
  // Its process is gone: these fail.
  [[nodiscard]] std::vector<BatchId> drop(const Instance& instance);
  void clear() { running_.clear(); }
  // Whether the inputs of the function's next invocation that succeeds are handed to the hook, once.
  void want_sample(ApplicationId application, FunctionId function, bool wanted);
  void forget(ApplicationId application);

  // Of batches that run at once in a process nobody knows which one printed: each has the line.
  void printed(const Process& process, const std::string& line);
  [[nodiscard]] bool wants_log(const Process& process) const;

  // A process that does not answer. Nobody waits for it: it may go on until `end_at`, without work and vCPUs.
  struct Stuck {
    ProcessId process;
    std::optional<Time> end_at;
  };
  // Ends those whose inputs did not come in time and those that take longer than their stage may; adds the processes
  // that do not answer.
  void look_at_clock(Time now, std::vector<Stuck>& stuck);
  [[nodiscard]] Time due() const;
  [[nodiscard]] std::vector<RunningBatch> of(InvokerId invoker) const;

 private:
  void begin(Running& batch);
  // Those it follows are over: from now on it holds what it takes.
  static void take_turn(Running& batch, Time now);
  [[nodiscard]] bool has_turn(StartBatch& start) const;
  // Whether its worker can read all that there is. False: what is elsewhere is being fetched.
  [[nodiscard]] bool brings_kept(Running& batch);
  [[nodiscard]] bool may_keep(const Running& batch) const;
  void next_group(Running& batch);
  void skip_group(Running& batch, const std::string& error);
  void count_on_gpu(Running& batch, const wire::Ran& ran);
  // A program ended: the worker's control group and its log say why.
  void explain_end(Process& process, std::string& error) const;
  void keep(Running& batch, std::vector<RowResult>& rows);
  void give_sample(const Running& batch);
  void tell_finished(Running& batch);
  void fail(Running& batch, const std::string& error);
  // It is over, and the scheduler hears how.
  void let_go(Running& batch, Event event);
  // When it has had all the time that it may take.
  [[nodiscard]] Time stuck_at(const Running& batch) const;
  void time_out(Running& batch, Time now);
  [[nodiscard]] Duration emulated_time(const StartBatch& start, std::uint32_t rows);

  Patience patience_;
  Rng luck_;  // of emulated functions
  Parts parts_;
  Hooks hooks_;
  BatchReads reads_;  // before running_, which hold tickets of it
  std::map<BatchId, std::unique_ptr<Running>> running_;
  Answered answered_;
  std::set<std::pair<ApplicationId, FunctionId>> samples_wanted_;  // empty once all functions are profiled
};

}  // namespace sluice::invoker
