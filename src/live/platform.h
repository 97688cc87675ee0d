// Platform: everything behind the gateway in one process: the scheduler's thread, the local invoker, the store. What
// was deployed and what was accepted for later is there again after a crash. It only connects its parts: Runner,
// Journal, Deployments, Profiling and the Agent.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/remark.h"
#include "data/arenas.h"
#include "domain/cluster.h"
#include "invoker/agent_link.h"
#include "live/deployments.h"
#include "live/desk.h"
#include "live/journal.h"
#include "live/local_identity.h"
#include "live/profiling.h"
#include "live/remark_rate.h"
#include "live/runner.h"
#include "live/service.h"
#include "policy/policy.h"
#include "store/reader.h"
#include "store/writer.h"

namespace sluice::live {

struct PlatformOptions {
  std::string directory;
  std::vector<NodeGroup> nodes;
  std::string scheduler = "sluice";
  policy::Parameters parameters;
  Transfer transfer{};           // what moving inputs is believed to take
  Bytes objects = Bytes::gb(2);  // shared memory for tensors, of all tenants
  Bytes objects_of_tenant;       // of one; none: all
  invoker::AgentOptions agent;
  store::Options store;
  std::size_t mailbox_max = 20'000;
  Duration profile_budget = Duration::s(20);
  std::uint64_t log_segment_bytes = 256u << 20, log_bytes_max = 1u << 30;  // event_log.h
  OnRemark say;                                                            // what an operator should see
};

class Platform final : public Service {
 public:
  // Deploys what was deployed, begins again what was not answered, then serves.
  [[nodiscard]] static Result<std::unique_ptr<Platform>> start(PlatformOptions options);
  ~Platform() override;

  // Nothing new is let in; true once everything is answered, false if that takes longer.
  bool drain(Duration most);

  // The scheduler is run by the calling thread from now on (runner.h): it calls work() when descriptor() is readable,
  // and soon after `soon`, until the platform is taken back.
  void lend(std::function<void()> soon) { runner_->lend(std::move(soon)); }
  void take_back() { runner_->take_back(); }
  [[nodiscard]] int descriptor() { return agent().waker().descriptor(); }
  void work() { runner_->work(); }

  [[nodiscard]] Identity& identity() { return *identity_; }
  // For the request ids that clients see: the same over restarts, and nobody else knows it.
  [[nodiscard]] const std::string& id_secret() const { return id_secret_; }

  // Where it can be reached, for readers.
  void listening(std::string address);
  // After everything that was posted before.
  [[nodiscard]] std::shared_ptr<const Snapshot> settled_snapshot();

  [[nodiscard]] std::shared_ptr<data::Arena> arena(const std::string& tenant) override;
  [[nodiscard]] const data::Arenas& arenas() const { return arenas_; }
  [[nodiscard]] std::optional<Answer> enter(Call& call, std::uint32_t rows) override;
  RequestId call(Call call, OnAnswer answer) override;
  RequestId call_rows(Call call, std::vector<SharedInputs> rows, OnRow answer) override;
  void call_later(Call call, std::function<void(Result<RequestId>)> accepted) override;
  void cancel(const Principal& principal, RequestId request) override;
  void deploy(Deployment deployment, OnDeployed done) override;
  void remove(Principal principal, std::string application, std::function<void(Status)> done) override;
  void change_version(Principal principal, VersionChange change, OnDeployed done) override;
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const override { return runner_->snapshot(); }
  [[nodiscard]] std::vector<RequestRecord> requests(const Principal& principal, RequestQuery query) const override;
  [[nodiscard]] std::optional<RequestRecord> find_request(const Principal& principal, RequestId request) const override;
  [[nodiscard]] std::shared_ptr<const data::Tensors> outputs_of(const Principal& principal,
                                                                RequestId request) const override;

 private:
  explicit Platform(PlatformOptions options);
  [[nodiscard]] Status begin();
  [[nodiscard]] Status make_runner(std::uint64_t epoch);
  void make_parts(store::Store store, const std::vector<store::Request>& unfinished);
  // Of GPUs: kept in the store.
  [[nodiscard]] std::string forms_name() const;
  void keep_forms(const invoker::GpuForms& forms);
  void set_quota(const store::Tenant& tenant);
  void describe(Snapshot& snapshot) const;
  [[nodiscard]] invoker::Agent& agent() const { return machines_->agent(); }
  void say(const Remark& remark) const;
  [[nodiscard]] Answer mailbox_full(RequestId id, std::size_t wanted, const std::string& application);
  // Refused at the door, where the scheduler does not hear of it.
  void note_refused(const Answer& answer, const std::string& application);

  PlatformOptions options_;
  data::Arenas arenas_;
  data::ObjectStore objects_;
  Budgets budgets_;
  std::unique_ptr<LocalIdentity> identity_;
  std::string id_secret_;
  std::unique_ptr<store::Writer> writer_;
  std::unique_ptr<store::Reader> reader_;
  std::unique_ptr<invoker::AgentLink> machines_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Profiling> profiling_;
  std::unique_ptr<Deployments> deployments_;
  std::atomic<std::uint64_t> next_id_ = 1;
  std::atomic<bool> draining_ = false;
  std::mutex refused_mutex_;
  RemarkRate refused_;  // guarded
  mutable std::mutex listening_mutex_;
  std::vector<std::string> listening_;  // guarded
};

}  // namespace sluice::live
