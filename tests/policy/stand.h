// A tiny vocabulary for policies on the real core: chains of functions with hand-written profiles, time in
// milliseconds, batches as text.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/scheduler.h"
#include "policy/catalog.h"

namespace sluice::policy {

struct Row {
  int batch, vcpu, slices;
  double ms;
};
using Rows = std::vector<Row>;

// A chain with one stage per profile: functions f0, f1, …
inline Application chain_of(const std::vector<Rows>& profiles) {
  Application out{.name = "app"};
  for (std::uint32_t i = 0; i < profiles.size(); ++i) {
    ProfileTable table;
    for (const Row& r : profiles[i])
      table.rows.push_back({.configuration = configuration(r.batch, r.vcpu, r.slices), .mean_ms = r.ms, .sd_ms = 0.1});
    out.functions.push_back({.name = str("f", i), .cpu = Body{}, .gpu = Body{}, .profile = table});
    Stage stage{.name = str("s", i), .function = FunctionId(i)};
    if (i > 0) stage.after.push_back(StageId(i - 1));
    out.workflow.stages.push_back(std::move(stage));
  }
  return out;
}

using Starts = std::vector<std::string>;

class Stand {
 public:
  Stand(std::string scheduler, const std::vector<Rows>& profiles, double objective_ms, Parameters parameters = {})
      : Stand(std::move(scheduler), with_objective(chain_of(profiles), objective_ms), std::move(parameters)) {}
  Stand(std::string scheduler, Application application, Parameters parameters = {})
      : name_(std::move(scheduler)),
        parameters_(std::move(parameters)),
        application_(std::make_shared<Application>(std::move(application))),
        scheduler_(fresh()) {}

  static Application with_objective(Application application, double ms) {
    application.objective.latency = Duration::ms(ms);
    return application;
  }

  Stand& invoker(std::uint32_t id, std::uint32_t vcpu, std::uint32_t slices) {
    return see(InvokerJoined{.id = InvokerId(id),
                             .epoch = 1,
                             .capacity = {.vcpu = vcpu, .gpus = 1, .slices_per_gpu = slices},
                             .warm = true});
  }
  Stand& quota(std::optional<std::uint32_t> vcpu, std::optional<std::uint32_t> slices) {
    return see(QuotaChanged{.tenant = application_->tenant, .vcpu = vcpu, .slices = slices});
  }
  Stand& at(double ms) {
    now_ = Time::from_ns(Duration::ms(ms).count_ns());
    return *this;
  }
  Stand& arrive(std::uint64_t id) { return arrive(id, application_->objective.latency, 0); }
  // With an objective or a priority of its own.
  Stand& arrive(std::uint64_t id, Duration objective, std::uint8_t priority) {
    RequestArrived event{.id = RequestId(id),
                         .application = ApplicationId(0),
                         .tenant = TenantId(0),
                         .deadline = now_ + objective,
                         .priority = priority};
    if (application_->objective.cost) event.cost_limit = PicoDollars::from_dollars(*application_->objective.cost);
    return see(event);
  }
  // Whether the condition of stage s1 holds is known with the request.
  Stand& arrive_branching(std::uint64_t id, bool holds) {
    return see(RequestArrived{.id = RequestId(id),
                              .application = ApplicationId(0),
                              .tenant = TenantId(0),
                              .deadline = now_ + application_->objective.latency,
                              .verdicts = {{StageId(1), holds}}});
  }
  Stand& cancel(std::uint64_t id) { return see(RequestCancelled{RequestId(id)}); }
  // What starts now, as "s0 of 1 2: (2,1,1) on 0": stage, requests, configuration, invoker.
  Starts decide() {
    Commands commands;
    scheduler_->decide(now_, commands);
    EXPECT_EQ(scheduler_->broken_invariant(), "");
    Starts out;
    for (Command& command : commands.list) {
      if (const auto* reject = std::get_if<Reject>(&command.action)) last_reject_ = *reject;
      if (const auto* wanted = std::get_if<MakePlans>(&command.action))
        see(PlansMade{wanted->application, wanted->revision});
      auto* start = std::get_if<StartBatch>(&command.action);
      if (start == nullptr) continue;
      std::string text = str("s", start->members.front().stage.value(), " of");
      for (const BatchMember& member : start->members) text += str(" ", member.request.value());
      const Configuration& c = start->configuration;
      out.push_back(str(text, ": (", c.batch, ",", c.vcpu, ",", c.slices, ") on ", start->invoker.value()));
      states_.push_back(command.work.states);
      started_.push_back(std::move(*start));
    }
    return out;
  }
  // The oldest batch that runs ends well, and says that it took so many milliseconds, or as long as was expected.
  Stand& finish(std::optional<double> ms = {}) {
    const StartBatch batch = started_.front();
    started_.erase(started_.begin());
    const Duration took = ms ? Duration::ms(*ms) : batch.expected;
    BatchFinished event{.id = batch.id, .measured = took, .held = took};
    for (const BatchMember& member : batch.members) event.results.push_back({.id = member.invocation});
    return see(event);
  }
  Stand& finish_all(std::optional<double> ms = {}) {
    while (!started_.empty()) finish(ms);
    return *this;
  }
  Stand& reload() {
    const std::string saved = scheduler_->save();
    scheduler_ = fresh();
    EXPECT_TRUE(scheduler_->load(saved).ok());
    EXPECT_EQ(scheduler_->save(), saved);
    return *this;
  }
  [[nodiscard]] core::Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] const Reject& last_reject() const { return last_reject_; }
  [[nodiscard]] const StartBatch& last_start() const { return started_.back(); }
  [[nodiscard]] const std::vector<std::uint64_t>& states() const { return states_; }  // charged, by batch

 private:
  Stand& see(const Event& event) {
    scheduler_->observe(event, now_);
    return *this;
  }
  [[nodiscard]] std::unique_ptr<core::Scheduler> fresh() const {
    auto policies = make_scheduler(name_, parameters_);
    EXPECT_TRUE(policies.ok());
    auto out = std::make_unique<core::Scheduler>(std::move(policies).value());
    out->observe(ApplicationDeployed{ApplicationId(0), application_}, Time::from_ns(0));
    return out;
  }
  std::string name_;
  Parameters parameters_;
  std::shared_ptr<const Application> application_;
  std::unique_ptr<core::Scheduler> scheduler_;
  Time now_;
  std::vector<StartBatch> started_;
  std::vector<std::uint64_t> states_;
  Reject last_reject_;
};

}  // namespace sluice::policy
