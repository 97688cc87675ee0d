#include "sim/machines.h"

#include <bit>

#include "base/text.h"

namespace sluice::sim {

Machines::Machines(const Cluster& cluster) {
  for (const NodeGroup& group : cluster.nodes) {
    Machine one{.capacity = group};
    one.capacity.count = 1;
    if (one.capacity.slices_per_gpu == 0) one.capacity.slices_per_gpu = 7;  // `auto` without a machine to ask
    one.slices.resize(group.gpus);
    machines_.insert(machines_.end(), group.count, one);
  }
}

std::vector<NodeGroup> Machines::capacities() const {
  std::vector<NodeGroup> out;
  for (const Machine& m : machines_) out.push_back(m.capacity);
  return out;
}

std::uint64_t Machines::vcpus() const {
  std::uint64_t sum = 0;
  for (const Machine& m : machines_) sum += m.capacity.vcpu;
  return sum;
}

std::uint64_t Machines::slices() const {
  std::uint64_t sum = 0;
  for (const Machine& m : machines_) sum += std::uint64_t{m.capacity.gpus} * m.capacity.slices_per_gpu;
  return sum;
}

void Machines::pass(Time now) {
  idle_byte_s_ += static_cast<double>(idle_.count()) * (now - counted_until_).to_s();
  counted_until_ = now;
}

std::uint64_t Machines::boot(std::size_t machine, Time now) {
  pass(now);
  for (const Bytes memory : warm_) idle_ += memory;
  machines_[machine].warm_running.assign(warm_.size(), 0);
  return machines_[machine].epoch = next_epoch_++;
}

void Machines::crash(std::size_t machine, Time now) {
  pass(now);
  Machine& m = machines_[machine];
  for (const auto& [id, loaded] : m.instances) idle_ -= loaded.running == 0 ? loaded.memory : Bytes{};
  for (std::size_t f = 0; f < warm_.size(); ++f) idle_ -= m.warm_running[f] == 0 ? warm_[f] : Bytes{};
  m.instances.clear();
  m.epoch = 0;
  m.vcpu = 0;
  m.slices.assign(m.slices.size(), 0);
}

std::string Machines::wrong_place(const Machine& m, const StartBatch& batch) {
  if (static_cast<std::uint32_t>(std::popcount(batch.positions.slices)) != batch.configuration.slices) {
    return str("batch ", batch.id.value(), " has other slices than its configuration says");
  }
  if (batch.positions.slices == 0) return "";
  if (batch.positions.gpu >= m.slices.size() ||
      static_cast<std::uint32_t>(std::bit_width(batch.positions.slices)) > m.capacity.slices_per_gpu) {
    return str("batch ", batch.id.value(), " was given slices that are not there");
  }
  if ((m.slices[batch.positions.gpu] & batch.positions.slices) == 0) return "";
  return str("a slice of invoker ", batch.invoker.value(), " was given twice");
}

std::string Machines::start(const StartBatch& batch, std::uint32_t function, Time now) {
  std::string wrong = enter(batch, 0, function, now);
  return wrong.empty() ? begin(batch) : wrong;
}

std::string Machines::enter(const StartBatch& batch, std::uint32_t followed, std::uint32_t function, Time now) {
  Machine& m = machines_[batch.invoker.index()];
  const std::uint32_t taken = m.vcpu - followed + batch.configuration.vcpu;
  if (taken > m.capacity.vcpu)
    return str("invoker ", batch.invoker.value(), " was given ", taken, " of ", m.capacity.vcpu, " vCPUs");
  const auto it = m.instances.find(batch.instance);
  const Level needed = batch.configuration.slices > 0 ? Level::device : Level::host;
  if (warm_.empty() && (it == m.instances.end() || it->second.level < needed ||
                        (needed == Level::device && it->second.gpu != batch.positions.gpu)))
    return str("batch ", batch.id.value(), " was started where its function is not loaded");
  m.vcpu += batch.configuration.vcpu;
  std::uint32_t& running = warm_.empty() ? it->second.running : m.warm_running[function];
  if (running++ > 0) return "";
  pass(now);
  idle_ -= warm_.empty() ? it->second.memory : warm_[function];
  return "";
}

std::string Machines::begin(const StartBatch& batch) {
  Machine& m = machines_[batch.invoker.index()];
  if (std::string wrong = wrong_place(m, batch); !wrong.empty()) return wrong;
  if (batch.positions.slices != 0) m.slices[batch.positions.gpu] |= batch.positions.slices;
  return "";
}

void Machines::end(const StartBatch& batch, std::uint32_t function, Time now) {
  Machine& m = machines_[batch.invoker.index()];
  if (batch.positions.slices != 0) m.slices[batch.positions.gpu] &= ~batch.positions.slices;
  leave(batch, function, now);
}

void Machines::leave(const StartBatch& batch, std::uint32_t function, Time now) {
  Machine& m = machines_[batch.invoker.index()];
  m.vcpu -= batch.configuration.vcpu;
  if (!warm_.empty()) {
    if (--m.warm_running[function] > 0) return;
    pass(now);
    idle_ += warm_[function];
    return;
  }
  const auto it = m.instances.find(batch.instance);
  if (it == m.instances.end()) return;
  pass(now);
  if (--it->second.running == 0) idle_ += it->second.memory;
}

double Machines::neighbours(const StartBatch& batch) const {
  const Machine& m = machines_[batch.invoker.index()];
  const std::uint32_t others = m.capacity.slices_per_gpu - batch.configuration.slices;
  if (batch.positions.slices == 0 || others == 0) return 0;
  return std::popcount(m.slices[batch.positions.gpu] & ~batch.positions.slices) / static_cast<double>(others);
}

Machines::Loaded* Machines::find(InvokerId invoker, InstanceId instance) {
  auto& instances = machines_[invoker.index()].instances;
  const auto it = instances.find(instance);
  return it == instances.end() ? nullptr : &it->second;
}

void Machines::set(InvokerId invoker, InstanceId instance, const Loaded& loaded, Time now) {
  pass(now);
  auto [it, fresh] = machines_[invoker.index()].instances.try_emplace(instance, loaded);
  if (!fresh) {
    idle_ -= it->second.running == 0 ? it->second.memory : Bytes{};
    it->second = loaded;
  }
  idle_ += loaded.running == 0 ? loaded.memory : Bytes{};
}

void Machines::unload(InvokerId invoker, InstanceId instance, Level left, Time now) {
  auto& instances = machines_[invoker.index()].instances;
  const auto it = instances.find(instance);
  if (it == instances.end()) return;
  pass(now);
  if (left > Level::none) {
    it->second.level = left;
    return;
  }
  idle_ -= it->second.running == 0 ? it->second.memory : Bytes{};
  instances.erase(it);
}

std::optional<std::pair<InvokerId, InstanceId>> Machines::idle_one(std::uint64_t draw) const {
  const std::size_t machine = draw % machines_.size();
  for (const auto& [id, loaded] : machines_[machine].instances) {
    if (loaded.running == 0 && loaded.level == Level::device) {
      return std::pair(InvokerId(static_cast<InvokerId::rep>(machine)), id);
    }
  }
  return std::nullopt;
}

double Machines::idle_gb_s(Time now) {
  pass(now);
  return idle_byte_s_ / 1e9;
}

void Machines::forget_idle(Time now) {
  pass(now);
  idle_byte_s_ = 0;
}

}  // namespace sluice::sim
