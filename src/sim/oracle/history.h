// History: what events and commands say has happened so far. The oracles judge by it alone, never by the scheduler's
// own state, so that a forged history can be fed to them as well.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/commands.h"
#include "domain/events.h"

namespace sluice::sim {

class History {
 public:
  struct Call {  // a request that came and was not answered
    ApplicationId application;
    Time arrival, deadline;
    bool cancelled = false;
    std::uint32_t running = 0;      // batches with members of it
    Time quiet_since;               // nothing runs for it since then; while `running` is 0
    std::set<InvokerId> left_at;    // invokers that hold something it made
    std::uint32_t losses = 0;       // how often such an invoker lost it
    bool ran_unrepeatable = false;  // an invocation of it that must not run twice was started
  };
  struct Machine {
    NodeGroup capacity;
    std::uint64_t epoch = 0, session = 0;
    bool up = false, draining = false;
    std::uint32_t running = 0;  // batches
    Time idle_since;            // while `running` is 0
  };
  struct Tenant {
    std::optional<std::uint32_t> vcpu_max, slices_max;  // its quota
    Time quota_since;
    std::uint64_t vcpu = 0, slices = 0;  // held by its batches
    std::uint32_t running = 0;           // batches
    Time idle_since;                     // while `running` is 0
    // Whether the quota leaves room for a configuration; more may be held than a quota that was lowered allows.
    [[nodiscard]] bool may_take(const Configuration& c) const {
      return within(vcpu_max, vcpu, c.vcpu) && within(slices_max, slices, c.slices);
    }
    // Likewise if nothing of the tenant ran.
    [[nodiscard]] bool may_ever_take(const Configuration& c) const {
      return within(vcpu_max, 0, c.vcpu) && within(slices_max, 0, c.slices);
    }

   private:
    static bool within(std::optional<std::uint32_t> most, std::uint64_t held, std::uint32_t more) {
      return !most || more == 0 || held + more <= *most;
    }
  };
  // How a batch ended, told once: duplicates and messages of machines that were given up change nothing.
  struct EndedBatch {
    enum class How : std::uint8_t { finished, failed, expired } how = How::finished;
    StartBatch start;
    std::string error;                      // failed: with its worker or its machine
    std::vector<InvocationResult> results;  // finished
  };
  struct FailedLoad {
    Time at;
    ApplicationId application;
    FunctionId function;
    std::string error;
  };
  struct Instance {
    ApplicationId application;
    FunctionId function;
  };

  void observed(const Event& event, Time now);
  void decided(const Command& command, Time now);

  // Of the last event.
  [[nodiscard]] const std::vector<EndedBatch>& ended() const { return ended_; }

  [[nodiscard]] const std::map<RequestId, Call>& calls() const { return calls_; }
  [[nodiscard]] const Call* call(RequestId id) const;
  [[nodiscard]] const std::map<InvokerId, Machine>& machines() const { return machines_; }
  [[nodiscard]] const Tenant& tenant_of(ApplicationId application) const;
  [[nodiscard]] const Instance* instance(InvokerId invoker, InstanceId id) const;
  // Of functions that were not loaded since, oldest first.
  [[nodiscard]] const std::vector<FailedLoad>& failed_loads() const { return failed_loads_; }
  [[nodiscard]] const Application& application(ApplicationId id) const { return *applications_.at(id); }
  // The same function of the same tenant, whatever application it is deployed with.
  [[nodiscard]] bool same_function(const Instance& a, const Instance& b) const;
  [[nodiscard]] const Stage& stage_of(const BatchMember& member) const;

 private:
  void on(const ApplicationDeployed& event);
  void on(const RequestArrived& event);
  void on(const RequestCancelled& event);
  void on(const BatchExpired& event);
  void on(const BatchFinished& event);
  void on(const BatchFailed& event);
  void on(const InstanceLoaded& event);
  void on(const LoadFailed& event);
  void on(const InvokerJoined& event);
  void on(const InvokerChanged& event);
  void on(const InvokerDraining& event);
  void on(const InvokerLost& event);
  void on(const ObjectLost& event);
  void on(const QuotaChanged& event);
  template <class Other>
  void on(const Other&) {}

  void start(const StartBatch& batch);
  void end(BatchId id, EndedBatch how);
  void fail_all_at(InvokerId invoker, const std::set<BatchId>& still_running);
  void lose_objects_at(InvokerId invoker, const std::set<RequestId>& still_held);

  Time now_;
  std::map<ApplicationId, std::shared_ptr<const Application>> applications_;
  std::map<RequestId, Call> calls_;
  std::map<BatchId, StartBatch> batches_;  // that were started and have not ended
  std::map<InvokerId, Machine> machines_;
  std::map<std::string, Tenant> tenants_;
  std::map<std::pair<InvokerId, InstanceId>, Instance> instances_;
  std::vector<FailedLoad> failed_loads_;
  std::vector<EndedBatch> ended_;
};

}  // namespace sluice::sim
