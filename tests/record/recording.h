// A small run of a scheduler, written down: one application of two stages, two machines, a dozen requests.
#pragma once
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "policy/catalog.h"
#include "record/recorder.h"
#include "record/replay.h"

namespace sluice::record {

inline std::shared_ptr<const Application> small_application() {
  auto out = std::make_shared<Application>();
  out->name = "app";
  out->objective.latency = Duration::ms(200);
  ProfileTable table;
  for (const int batch : {1, 2, 4}) {
    for (const int slices : {1, 2})
      table.rows.push_back(
          {.configuration = configuration(batch, 1, slices), .mean_ms = 10.0 * batch / slices, .sd_ms = 0.1});
  }
  out->functions = {{.name = "f", .cpu = Body{}, .gpu = Body{}, .profile = table}};
  out->workflow.stages = {{.name = "a", .function = FunctionId(0)},
                          {.name = "b", .function = FunctionId(0), .after = {StageId(0)}}};
  return out;
}

// Drives a scheduler and records it: every batch ends after the time it was expected to take.
class Run {
 public:
  explicit Run(LogHeader header) : recorder_(log_) {
    recorder_.header(header);
    scheduler_ = std::move(make_scheduler(header)).value();
  }
  void see(const Event& event, double ms) {
    now_ = Time::from_ns(Duration::ms(ms).count_ns());
    recorder_.observed(event, now_);
    scheduler_->observe(event, now_);
  }
  void decide() {
    Commands commands;
    scheduler_->decide(now_, commands);
    recorder_.decided(now_, commands);
    for (const Command& command : commands.list) {
      if (const auto* start = std::get_if<StartBatch>(&command.action)) started_.push_back(*start);
      if (const auto* wanted = std::get_if<MakePlans>(&command.action)) {
        const PlansMade made{wanted->application, wanted->revision};
        recorder_.observed(made, now_);
        scheduler_->observe(made, now_);
      }
    }
  }
  // The batches that run end.
  void finish(double ms) {
    for (const StartBatch& batch : std::exchange(started_, {})) {
      BatchFinished event{.id = batch.id, .measured = Duration::ms(10), .held = Duration::ms(10)};
      for (const BatchMember& member : batch.members) event.results.push_back({.id = member.invocation});
      see(event, ms);
    }
    decide();
  }
  [[nodiscard]] std::string log() const { return log_.str(); }

 private:
  std::ostringstream log_;
  Recorder recorder_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::vector<StartBatch> started_;
  Time now_;
};

inline std::string recorded(const std::string& scheduler) {
  Run run({.scheduler = scheduler, .parameters = {{"margin", 0.2}}, .limits = {.requests_max = 10}});
  run.see(ApplicationDeployed{ApplicationId(0), small_application()}, 0);
  for (std::uint32_t i = 0; i < 2; ++i)
    run.see(
        InvokerJoined{
            .id = InvokerId(i), .epoch = 1, .capacity = {.vcpu = 2, .gpus = 1, .slices_per_gpu = 3}, .warm = true},
        0);
  run.decide();
  double ms = 1;
  for (std::uint64_t i = 0; i < 12; ++i, ms += 5) {
    run.see(RequestArrived{.id = RequestId(i),
                           .application = ApplicationId(0),
                           .tenant = TenantId(0),
                           .deadline = Time::from_ns(Duration::ms(ms + 200).count_ns())},
            ms);
    if (i == 5) run.see(RequestCancelled{RequestId(2)}, ms);
    run.decide();
    if (i % 3 == 2) run.finish(ms + 1);
  }
  for (int i = 0; i < 8; ++i, ms += 5) run.finish(ms);
  return run.log();
}

}  // namespace sluice::record
