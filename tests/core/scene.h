// A tiny vocabulary for scheduler scenarios: machines, applications over three functions, time in milliseconds.
// decide() gives what starts; said() what else was commanded at that instant.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/scheduler.h"
#include "policy/catalog.h"

namespace sluice::core {

using Starts = std::vector<std::string>;
using MakePolicies = std::function<policy::Policies()>;

inline Stage stage(std::string name, std::vector<std::uint32_t> after = {}, std::uint32_t function = 0) {
  Stage out{.name = std::move(name), .function = FunctionId(function)};
  for (const std::uint32_t before : after) out.after.push_back(StageId(before));
  return out;
}

inline MakePolicies scheduler_named(const std::string& name) {
  return [name] { return policy::make_scheduler(name, {}).value(); };
}

// One vCPU and one slice, 10 ms an invocation whatever the batch.
inline Profile ten_ms(double factor = 1) {
  ProfileTable table;
  for (const int batch : {1, 2, 4})
    table.rows.push_back({.configuration = configuration(batch, 1, 1), .mean_ms = factor * 10 * batch, .sd_ms = 0.1});
  return table;
}

// The functions f, g and h take 1 GB each; from nothing they load in 120 ms, from host memory in 20 ms.
inline std::shared_ptr<Application> application_of(std::vector<Stage> stages) {
  auto out = std::make_shared<Application>();
  out->name = "app";
  out->objective.latency = Duration::s(1);
  for (const char* name : {"f", "g", "h"}) {
    out->functions.push_back({.name = name,
                              .cpu = Body{},
                              .gpu = Body{},
                              .memory = Bytes::gb(1),
                              .cold_start = {Duration{}, Duration::ms(100), Duration::ms(20)},
                              .profile = ten_ms()});
  }
  out->workflow.stages = std::move(stages);
  return out;
}

class Scene {
 public:
  Scene(std::vector<Stage> stages, MakePolicies policies, const Limits& limits = {})
      : policies_(std::move(policies)), limits_(limits), scheduler_(fresh()) {
    deploy(std::move(stages));
  }
  Scene(std::shared_ptr<const Application> application, const std::string& scheduler)
      : policies_(scheduler_named(scheduler)), scheduler_(fresh()) {
    deploy(std::move(application));
  }
  explicit Scene(std::vector<Stage> stages, const std::string& scheduler = "fifo", const Limits& limits = {})
      : Scene(std::move(stages), scheduler_named(scheduler), limits) {}

  // Another application; the first is number 0.
  Scene& deploy(std::vector<Stage> stages, const std::string& tenant = "default") {
    auto application = application_of(std::move(stages));
    application->tenant = tenant;
    applications_.push_back(std::move(application));
    return see(
        ApplicationDeployed{ApplicationId(static_cast<std::uint32_t>(applications_.size() - 1)), applications_.back()});
  }
  // `plans`: made elsewhere; null: the scheduler makes them.
  Scene& deploy(std::shared_ptr<const Application> application, std::shared_ptr<const Plans> plans = nullptr) {
    applications_.push_back(std::move(application));
    ApplicationDeployed event{ApplicationId(static_cast<std::uint32_t>(applications_.size() - 1)),
                              applications_.back()};
    event.brought.plans = std::move(plans);
    return see(event);
  }
  Scene& invoker(std::uint32_t id, std::uint32_t vcpu = 4, std::uint32_t slices = 7, std::uint64_t epoch = 1) {
    return see(InvokerJoined{.id = InvokerId(id),
                             .epoch = epoch,
                             .capacity = {.vcpu = vcpu, .gpus = 1, .slices_per_gpu = slices},
                             .warm = true});
  }
  // Nothing is loaded there but what it brings along.
  Scene& cold_invoker(std::uint32_t id, double gpu_gb = 40, double host_gb = 64,
                      std::vector<InstanceStatus> instances = {}) {
    return see(
        InvokerJoined{.id = InvokerId(id),
                      .epoch = 1,
                      .capacity = {.vcpu = 4, .memory = Bytes::gb(host_gb), .gpus = 1, .gpu_memory = Bytes::gb(gpu_gb)},
                      .instances = std::move(instances)});
  }
  Scene& at(double ms) {
    now_ = Time::from_ns(Duration::ms(ms).count_ns());
    return *this;
  }
  Scene& see(const Event& event) {
    scheduler_->observe(event, now_);
    EXPECT_EQ(scheduler_->broken_invariant(), "");
    return *this;
  }
  // Of the next requests: how long they may take, where they go.
  Scene& within(double ms) {
    objective_ = Duration::ms(ms);
    return *this;
  }
  // Batches that finish from now on.
  Scene& taking(double ms) {
    measured_ = Duration::ms(ms);
    return *this;
  }
  Scene& to(std::uint32_t application) {
    application_ = ApplicationId(application);
    return *this;
  }
  Scene& arrive(std::uint64_t id, std::vector<Verdict> verdicts = {}, std::vector<FanOut> fan_outs = {}) {
    return see(RequestArrived{.id = RequestId(id),
                              .application = application_,
                              .tenant = TenantId(0),
                              .deadline = now_ + objective_,
                              .verdicts = std::move(verdicts),
                              .fan_outs = std::move(fan_outs)});
  }
  // Plans that are wanted from now on are not made before plans_made().
  Scene& planning_takes_long() {
    plans_take_long_ = true;
    return *this;
  }
  // The oldest plans that are wanted.
  Scene& plans_made() {
    const MakePlans wanted = pop(plans_wanted_);
    ++plans_count_;
    if (const auto work = scheduler_->work_of(wanted)) last_plans_ = work();
    return see(PlansMade{wanted.application, wanted.revision});
  }
  // What starts now, as "stage of request"; replies and rejections are kept. Plans are made at once, and then it is
  // decided again, unless planning takes long.
  Starts decide() {
    Starts out;
    said_.clear();
    decide_once(out);
    while (!plans_take_long_ && !plans_wanted_.empty()) {
      while (!plans_wanted_.empty()) plans_made();
      decide_once(out);
    }
    return out;
  }
  // The oldest batch that runs ends well, or with an error of the function.
  Scene& finish(const std::string& error = "") { return finish(pop(started_), error); }
  Scene& finish(const StartBatch& batch, const std::string& error = "") {
    BatchFinished event{.id = batch.id, .measured = measured_, .held = measured_};
    for (const BatchMember& member : batch.members) {
      event.results.push_back(
          {.id = member.invocation, .outcome = error.empty() ? Outcome::succeeded : Outcome::failed, .error = error});
    }
    last_finished_ = event;
    return see(event);
  }
  Scene& finish_again() { return see(last_finished_); }
  // The oldest batch that runs ends because its worker died.
  Scene& crash() { return see(BatchFailed{.id = pop(started_).id, .error = "WorkerCrashed"}); }
  // The oldest load ends, well or not; the oldest eviction is done.
  Scene& loaded() {
    const LoadInstance load = pop(loads_);
    return see(InstanceLoaded{.invoker = load.invoker, .instance = load.instance, .level = load.level});
  }
  Scene& load_fails() {
    const LoadInstance load = pop(loads_);
    return see(LoadFailed{.invoker = load.invoker, .instance = load.instance, .error = "NoSuchModel"});
  }
  Scene& evicted() {
    const EvictInstance evict = pop(evictions_);
    return see(InstanceUnloaded{.invoker = evict.invoker, .instance = evict.instance, .level = evict.level});
  }
  [[nodiscard]] bool loading() const { return !loads_.empty(); }
  [[nodiscard]] bool evicting() const { return !evictions_.empty(); }
  Scene& lose(std::uint32_t invoker, std::uint64_t epoch = 1) {
    std::erase_if(started_, [&](const StartBatch& b) { return b.invoker == InvokerId(invoker); });
    return see(InvokerLost{InvokerId(invoker), epoch});
  }
  Scene& reload() {
    const std::string saved = scheduler_->save();
    auto other = fresh();
    EXPECT_TRUE(other->load(saved).ok());
    EXPECT_EQ(other->save(), saved);
    scheduler_ = std::move(other);
    return *this;
  }

  [[nodiscard]] const Starts& replies() const { return replies_; }
  [[nodiscard]] const Starts& said() const { return said_; }
  [[nodiscard]] std::vector<StartBatch>& started() { return started_; }
  // The plans made last, as another thread would make them.
  [[nodiscard]] const Plans& last_plans() const { return *last_plans_; }
  [[nodiscard]] std::size_t plans_count() const { return plans_count_; }  // how often some were made
  [[nodiscard]] const LoadInstance& last_load() const { return last_load_; }
  [[nodiscard]] const Reject& last_reject() const { return last_reject_; }
  [[nodiscard]] const Accept& last_accept() const { return last_accept_; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  // When it wants to be asked again, in milliseconds; -1: never.
  [[nodiscard]] double wake_ms() const {
    const auto wake = scheduler_->next_wake();
    return wake ? static_cast<double>(wake->count_ns()) / 1e6 : -1;
  }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  template <class T>
  static T pop(std::vector<T>& list) {
    CHECK_MSG(!list.empty(), "nothing of the kind is on its way");
    T first = std::move(list.front());
    list.erase(list.begin());
    return first;
  }
  void decide_once(Starts& out) {
    Commands commands;
    scheduler_->decide(now_, commands);
    EXPECT_EQ(scheduler_->broken_invariant(), "");
    for (Command& command : commands.list) {
      log_ += str(command.id.value(), ":", command.action.index(), " ");
      std::visit([&](auto& action) { heard(action, out); }, command.action);
    }
  }
  std::unique_ptr<Scheduler> fresh() const { return std::make_unique<Scheduler>(policies_(), limits_); }

  // The name of what is commanded, and what is kept of it.
  void heard(StartBatch& start, Starts& starts) {
    for (const BatchMember& member : start.members) {
      const Application& application = *applications_[start.application.index()];
      starts.push_back(str(stage_name(application, member.path, member.stage), " of ", member.request.value()));
    }
    started_.push_back(std::move(start));
  }
  void heard(const Reply& reply, Starts&) {
    constexpr std::string_view kOutcomes[] = {"finished", "failed", "deadline exceeded", "cancelled"};
    replies_.push_back(str(reply.request.value(), " ", kOutcomes[static_cast<int>(reply.outcome)],
                           reply.error.empty() ? "" : " ", reply.error));
  }
  void heard(const Reject& reject, Starts&) {
    last_reject_ = reject;
    replies_.push_back(str(reject.request.value(), " rejected: needs ", reject.needed, " of ", reject.available));
  }
  void heard(const Accept& accept, Starts&) { last_accept_ = accept; }
  void heard(const LoadInstance& load, Starts&) {
    last_load_ = load;
    loads_.push_back(load);
    names_[load.instance] = applications_[load.application.index()]->function(load.function).name;
    said_.push_back(str("load ", names_[load.instance], " at ", load.invoker.value()));
  }
  void heard(const EvictInstance& evict, Starts&) {
    evictions_.push_back(evict);
    said_.push_back(
        str(evict.level == Level::host ? "lower " : "evict ", names_[evict.instance], " at ", evict.invoker.value()));
  }
  void heard(const CancelBatch& cancel, Starts&) { said_.push_back(str("cancel batch ", cancel.id.value())); }
  void heard(const ReleaseObjects& release, Starts&) {
    said_.push_back(str("release ", release.request.value(), " at ", release.invoker.value()));
  }
  void heard(const MakePlans& wanted, Starts&) {
    plans_wanted_.push_back(wanted);
    if (plans_take_long_) said_.push_back(str("plan ", wanted.application.value(), " as of ", wanted.revision));
  }

  MakePolicies policies_;
  Limits limits_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::shared_ptr<const Application>> applications_;
  ApplicationId application_{0};
  Duration measured_ = Duration::ms(10);
  Duration objective_ = Duration::s(1);
  Time now_;
  std::vector<StartBatch> started_;
  std::vector<LoadInstance> loads_;
  std::vector<EvictInstance> evictions_;
  std::vector<MakePlans> plans_wanted_;
  std::shared_ptr<const Plans> last_plans_;
  std::size_t plans_count_ = 0;
  bool plans_take_long_ = false;
  std::map<InstanceId, std::string> names_;
  Starts replies_, said_;
  LoadInstance last_load_;
  Reject last_reject_;
  Accept last_accept_;
  BatchFinished last_finished_;
  std::string log_;
};

}  // namespace sluice::core
