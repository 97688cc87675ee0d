// A tiny vocabulary for scheduler scenarios: one cluster, one application, time in milliseconds.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/scheduler.h"
#include "policy/catalog.h"

namespace sluice::core {

inline Stage stage(std::string name, std::vector<std::uint32_t> after = {}) {
  Stage out{.name = std::move(name), .function = FunctionId(0)};
  for (const std::uint32_t before : after) out.after.push_back(StageId(before));
  return out;
}

class Scene {
 public:
  explicit Scene(std::vector<Stage> stages, std::string scheduler = "fifo", const Limits& limits = {})
      : name_(std::move(scheduler)), limits_(limits) {
    auto application = std::make_shared<Application>();
    application->name = "app";
    application->objective.latency = Duration::s(1);
    ProfileTable table;
    for (const int batch : {1, 2, 4})
      table.rows.push_back({.configuration = configuration(batch, 1, 1), .mean_ms = 10.0 * batch, .sd_ms = 0.1});
    application->functions = {{.name = "f", .cpu = Body{}, .gpu = Body{}, .profile = table}};
    application->workflow.stages = std::move(stages);
    application_ = std::move(application);
    scheduler_ = fresh();
    see(ApplicationDeployed{ApplicationId(0), application_});
  }

  Scene& invoker(std::uint32_t id, std::uint32_t vcpu = 4, std::uint32_t slices = 7, std::uint64_t epoch = 1) {
    see(InvokerJoined{.id = InvokerId(id),
                      .epoch = epoch,
                      .capacity = {.vcpu = vcpu, .gpus = 1, .slices_per_gpu = slices},
                      .warm = true});
    return *this;
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
  Scene& arrive(std::uint64_t id, std::vector<Verdict> verdicts = {}, std::vector<FanOut> fan_outs = {}) {
    return see(RequestArrived{.id = RequestId(id),
                              .application = ApplicationId(0),
                              .tenant = TenantId(0),
                              .deadline = now_ + Duration::s(1),
                              .verdicts = std::move(verdicts),
                              .fan_outs = std::move(fan_outs)});
  }
  // What starts now, as "stage of request"; replies and rejections are kept.
  std::vector<std::string> decide() {
    Commands commands;
    scheduler_->decide(now_, commands);
    EXPECT_EQ(scheduler_->broken_invariant(), "");
    std::vector<std::string> out;
    for (Command& command : commands.list) {
      log_ += str(command.id.value(), ":", command.action.index(), " ");
      if (auto* start = std::get_if<StartBatch>(&command.action)) {
        for (const BatchMember& member : start->members)
          out.push_back(str(application_->workflow.stages[member.stage.index()].name, " of ", member.request.value()));
        started_.push_back(std::move(*start));
      } else if (auto* reply = std::get_if<Reply>(&command.action)) {
        constexpr std::string_view kOutcomes[] = {"finished", "failed", "deadline exceeded", "cancelled"};
        replies_.push_back(str(reply->request.value(), " ", kOutcomes[static_cast<int>(reply->outcome)],
                               reply->error.empty() ? "" : " ", reply->error));
      } else if (auto* reject = std::get_if<Reject>(&command.action)) {
        replies_.push_back(
            str(reject->request.value(), " rejected: needs ", reject->needed, " of ", reject->available));
      }
    }
    return out;
  }
  // The oldest batch that runs ends well, or with an error of the function.
  Scene& finish(const std::string& error = "") {
    const StartBatch batch = started_.front();
    started_.erase(started_.begin());
    return finish(batch, error);
  }
  Scene& finish(const StartBatch& batch, const std::string& error = "") {
    BatchFinished event{.id = batch.id, .measured = Duration::ms(10), .held = Duration::ms(10)};
    for (const BatchMember& member : batch.members) {
      event.results.push_back(
          {.id = member.invocation, .outcome = error.empty() ? Outcome::succeeded : Outcome::failed, .error = error});
    }
    last_finished_ = event;
    return see(event);
  }
  Scene& finish_again() { return see(last_finished_); }
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

  [[nodiscard]] const std::vector<std::string>& replies() const { return replies_; }
  [[nodiscard]] std::vector<StartBatch>& started() { return started_; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  std::unique_ptr<Scheduler> fresh() const {
    auto policies = policy::make_scheduler(name_, {});
    return std::make_unique<Scheduler>(std::move(policies).value(), limits_);
  }
  std::string name_;
  Limits limits_;
  std::shared_ptr<const Application> application_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_;
  std::vector<StartBatch> started_;
  std::vector<std::string> replies_;
  BatchFinished last_finished_;
  std::string log_;
};

using Starts = std::vector<std::string>;

}  // namespace sluice::core
