#include "bus/inventory.h"

#include <variant>

namespace sluice::bus {

void Inventory::note(const Action& action) {
  std::visit(
      [this](const auto& a) {
        if constexpr (
            requires { this->note(a); } && requires { a.invoker; }) {
          if (machines_.contains(a.invoker)) this->note(a);
        }
      },
      action);
}

void Inventory::note(const Event& event) {
  if (const auto* joined = std::get_if<InvokerJoined>(&event)) {
    machines_[joined->id] = {.joined = *joined};
  } else if (const auto* changed = std::get_if<InvokerChanged>(&event)) {
    if (const auto at = machines_.find(changed->id); at != machines_.end())
      at->second.joined.capacity = changed->capacity;
  } else if (const auto* finished = std::get_if<BatchFinished>(&event)) {
    note(*finished);
  } else if (const auto* failed = std::get_if<BatchFailed>(&event)) {
    ended(failed->id);
  } else if (const auto* expired = std::get_if<BatchExpired>(&event)) {
    ended(expired->id);
  } else if (const auto* loaded = std::get_if<InstanceLoaded>(&event)) {
    if (InstanceStatus* status = find(loaded->invoker, loaded->instance)) status->batches = loaded->batches;
    set_level(loaded->invoker, loaded->instance, loaded->level);
  } else if (const auto* unloaded = std::get_if<InstanceUnloaded>(&event)) {
    set_level(unloaded->invoker, unloaded->instance, unloaded->level);
  } else if (const auto* load_failed = std::get_if<LoadFailed>(&event)) {
    if (const InstanceStatus* status = find(load_failed->invoker, load_failed->instance))
      set_level(load_failed->invoker, load_failed->instance, status->level);
  } else if (const auto* lost = std::get_if<ObjectLost>(&event)) {
    if (const auto at = machines_.find(lost->invoker); at != machines_.end()) at->second.objects.erase(lost->request);
  }
}

void Inventory::note(const LoadInstance& load) {
  auto& instances = machines_[load.invoker].instances;
  InstanceStatus& status = instances[load.instance];
  status.id = load.instance;
  status.application = load.application;
  status.function = load.function;
  status.gpu = load.gpu;
  status.moving_to = load.level;
}

void Inventory::note(const EvictInstance& evict) {
  if (InstanceStatus* status = find(evict.invoker, evict.instance)) status->moving_to = evict.level;
}

void Inventory::note(const StartBatch& start) {
  Running& running = machines_[start.invoker].running[start.id];
  running.batch = {
      .id = start.id, .instance = start.instance, .configuration = start.configuration, .positions = start.positions};
  for (const BatchMember& member : start.members) {
    running.batch.invocations.push_back(member.invocation);
    running.requests.emplace(member.invocation, member.request);
    machines_[start.invoker].objects.insert(member.request);  // what it reads may be copied there
  }
  batches_[start.id] = start.invoker;
}

void Inventory::note(const ReleaseObjects& release) {
  machines_[release.invoker].objects.erase(release.request);
}

// It leaves something also of a request that was released since it began.
void Inventory::note(const BatchFinished& finished) {
  const auto where = batches_.find(finished.id);
  if (where == batches_.end()) return;
  Machine& machine = machines_[where->second];
  const auto& requests = machine.running[finished.id].requests;
  for (const InvocationResult& result : finished.results) {
    const auto request = requests.find(result.id);
    if (result.outcome == Outcome::succeeded && request != requests.end()) machine.objects.insert(request->second);
  }
  ended(finished.id);
}

void Inventory::ended(BatchId batch) {
  const auto where = batches_.find(batch);
  if (where == batches_.end()) return;
  machines_[where->second].running.erase(batch);
  batches_.erase(where);
}

InstanceStatus* Inventory::find(InvokerId invoker, InstanceId instance) {
  const auto machine = machines_.find(invoker);
  if (machine == machines_.end()) return nullptr;
  const auto at = machine->second.instances.find(instance);
  return at == machine->second.instances.end() ? nullptr : &at->second;
}

// It is on its way to nowhere else any more; with nothing left it is gone.
void Inventory::set_level(InvokerId invoker, InstanceId instance, Level level) {
  InstanceStatus* status = find(invoker, instance);
  if (status == nullptr) return;
  status->level = level;
  status->moving_to.reset();
  if (level == Level::none) machines_[invoker].instances.erase(instance);
}

std::vector<InvokerJoined> Inventory::joined() const {
  std::vector<InvokerJoined> out;
  for (const auto& [id, machine] : machines_) {
    InvokerJoined& joined = out.emplace_back(machine.joined);
    joined.instances.clear();
    joined.running.clear();
    for (const auto& [instance, status] : machine.instances) joined.instances.push_back(status);
    for (const auto& [batch, running] : machine.running) joined.running.push_back(running.batch);
    joined.objects.assign(machine.objects.begin(), machine.objects.end());
  }
  return out;
}

}  // namespace sluice::bus
