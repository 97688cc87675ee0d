#include "sim/reporting.h"

#include <string>
#include <string_view>
#include <vector>

namespace sluice::sim {
namespace {

// The name in the plan ("each object/crop" inside a foreach). Stages that only handle errors are in no plan and have
// the name in their workflow.
std::string_view stage_name(const WorldState& world, const StartBatch& command) {
  const Deployment& deployment = world.deployments[command.application.index()];
  const std::string& planned = deployment.stages[command.model_stage];
  const std::vector<Stage>& stages = deployment.application->workflow.stages;
  const std::size_t own = command.members.front().stage.index();
  const bool same = own < stages.size() && stages[own].name == planned;
  if (same || planned.find('/') != std::string::npos || own >= stages.size()) return planned;
  return stages[own].name;
}

// What the profile says of a batch that is as full as it is.
profile::Latency believed(const WorldState& world, const StartBatch& command) {
  Configuration actual = command.configuration;
  actual.batch = static_cast<std::uint16_t>(command.members.size());
  return world.deployments[command.application.index()].profiles[command.function.index()].latency(actual);
}

}  // namespace

void report(const WorldState& world, const Running& running, ActionEnd end, Time now) {
  if (world.options.observer == nullptr) return;
  const StartBatch& start = running.start;
  const Application& application = *world.deployments[start.application.index()].application;
  world.options.observer->action({.id = start.id.value(),
                                  .kind = ActionKind::infer,
                                  .invoker = start.invoker,
                                  .positions = start.positions,
                                  .application = start.application.value(),
                                  .application_name = application.name,
                                  .function = application.function(start.function).name,
                                  .stage = stage_name(world, start),
                                  .configuration = start.configuration,
                                  .members = start.members,
                                  .queued = start.queued,
                                  .decided = running.decided,
                                  .started = running.started,
                                  .transfer = running.transfer,
                                  .expected = Duration::ms(believed(world, start).mean_ms),
                                  .measured = running.measured,
                                  .finished = now,
                                  .end = end});
}

void report(const WorldState& world, RequestId request, const Asked& asked, Ending ending,
            std::optional<RejectReason> reason, PicoDollars cost) {
  if (world.options.observer == nullptr) return;
  world.options.observer->request({.id = request,
                                   .application = asked.application,
                                   .application_name = world.deployments[asked.application].application->name,
                                   .arrival = asked.at,
                                   .deadline = asked.deadline,
                                   .finish = world.now,
                                   .ending = ending,
                                   .reason = reason,
                                   .cost = cost,
                                   .cold = asked.cold,
                                   .measured = request.value() >= world.experiment.workload.warmup});
}

void report(const WorldState& world, const Move& move, ActionKind kind, ActionEnd end, Time now) {
  if (world.options.observer == nullptr) return;
  const std::uint32_t index = move.becomes.application.valid() ? move.becomes.application.value() : 0;
  const Application& application = *world.deployments[index].application;
  world.options.observer->action({.id = move.instance.value(),
                                  .kind = kind,
                                  .invoker = move.invoker,
                                  .positions = {.gpu = move.becomes.gpu},
                                  .application = index,
                                  .application_name = application.name,
                                  .function = application.function(move.becomes.function).name,
                                  .decided = move.begun,
                                  .started = move.begun,
                                  .measured = now - move.begun,
                                  .finished = now,
                                  .end = end});
}

}  // namespace sluice::sim
