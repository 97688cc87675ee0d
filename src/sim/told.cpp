// What a world tells its observer.
#include "sim/world.h"

namespace sluice::sim {

// The name in the plan ("each object/crop" inside a foreach). Stages that only handle errors are in no plan and have
// the name in their workflow.
std::string_view World::stage_name(const StartBatch& command) const {
  const Deployment& deployment = deployments_[command.application.index()];
  const std::string& planned = deployment.stages[command.model_stage];
  const std::vector<Stage>& stages = deployment.application->workflow.stages;
  const std::size_t own = command.members.front().stage.index();
  const bool same = own < stages.size() && stages[own].name == planned;
  if (same || planned.find('/') != std::string::npos || own >= stages.size()) return planned;
  return stages[own].name;
}

void World::report(const Running& running, ActionEnd end, Time now) const {
  if (options_.observer == nullptr) return;
  const StartBatch& start = running.start;
  const Application& application = *deployments_[start.application.index()].application;
  options_.observer->action({.id = start.id.value(),
                             .kind = ActionKind::infer,
                             .invoker = start.invoker,
                             .positions = start.positions,
                             .application = start.application.value(),
                             .application_name = application.name,
                             .function = application.function(start.function).name,
                             .stage = stage_name(start),
                             .configuration = start.configuration,
                             .members = start.members,
                             .queued = start.queued,
                             .decided = running.decided,
                             .started = running.started,
                             .transfer = running.transfer,
                             .expected = Duration::ms(believed(start).mean_ms),
                             .measured = running.measured,
                             .finished = now,
                             .end = end});
}

void World::report(RequestId request, const Asked& asked, Ending ending, std::optional<RejectReason> reason,
                   PicoDollars cost) const {
  if (options_.observer == nullptr) return;
  options_.observer->request({.id = request,
                              .application = asked.application,
                              .application_name = deployments_[asked.application].application->name,
                              .arrival = asked.at,
                              .deadline = asked.deadline,
                              .finish = now_,
                              .ending = ending,
                              .reason = reason,
                              .cost = cost,
                              .cold = asked.cold,
                              .measured = request.value() >= experiment_.workload.warmup});
}

void World::report(const Move& move, ActionKind kind, ActionEnd end, Time now) const {
  if (options_.observer == nullptr) return;
  const std::uint32_t index = move.becomes.application.valid() ? move.becomes.application.value() : 0;
  const Application& application = *deployments_[index].application;
  options_.observer->action({.id = move.instance.value(),
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
