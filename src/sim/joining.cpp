#include "sim/joining.h"

#include <map>

#include "sim/telling.h"

namespace sluice::sim {
namespace {

// All that a machine has to say when its link is there: what runs and was not told to have ended, what is loaded or
// moves, and whose objects it holds.
InvokerJoined joined(const WorldState& world, std::size_t machine) {
  const InvokerId id(static_cast<InvokerId::rep>(machine));
  InvokerJoined out{.id = id,
                    .epoch = world.machines.epoch(machine),
                    .session = world.sessions[machine],
                    .capacity = world.machines.capacity(machine),
                    .warm = world.experiment.instances == InstanceMode::warm,
                    .objects = {world.left_at[machine].begin(), world.left_at[machine].end()}};
  for (const BatchId batch : world.running_order) {
    const auto it = world.running.find(batch.value());
    if (it == world.running.end() || it->second.gone || it->second.start.invoker != id) continue;
    const StartBatch& start = it->second.start;
    out.running.push_back({start.id, start.instance, start.configuration, start.positions, {}});
    for (const BatchMember& member : start.members) out.running.back().invocations.push_back(member.invocation);
  }
  std::map<InstanceId, InstanceStatus> instances;
  for (const auto& [instance, loaded] : world.machines.instances(id)) {
    instances[instance] = {instance, loaded.application, loaded.function, loaded.level, loaded.gpu, 1, std::nullopt};
  }
  for (std::uint64_t m = 0; m < world.next_move; ++m) {
    const auto it = world.moves.find(m);
    if (it == world.moves.end() || it->second.invoker != id || it->second.epoch != out.epoch) continue;
    const Move& move = it->second;
    InstanceStatus& status = instances[move.instance];
    if (!status.id.valid()) status = {move.instance, move.becomes.application, move.becomes.function};
    status.gpu = move.becomes.gpu;
    status.moving_to = move.becomes.level;
  }
  for (const auto& [instance, status] : instances) out.instances.push_back(status);
  return out;
}

}  // namespace

void join(WorldState& world, std::size_t machine, Time now, const std::vector<InstanceStatus>& instances) {
  (void)world.machines.boot(machine, now);
  world.sessions[machine] = 0;
  world.left_at[machine].clear();
  const InvokerId id(static_cast<InvokerId::rep>(machine));
  for (const InstanceStatus& i : instances) {
    const Function& function = world.deployments[i.application.index()].application->function(i.function);
    world.machines.set(id, i.id, {i.application, i.function, i.level, i.gpu, function.memory.value_or(Bytes{}), 0, now},
                       now);
  }
  tell(world, joined(world, machine), now);
}

void join_again(WorldState& world, std::size_t machine, Time now) {
  ++world.sessions[machine];
  tell(world, joined(world, machine), now);
}

}  // namespace sluice::sim
