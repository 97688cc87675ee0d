#include "invoker/vcpu_limit.h"

#include <sched.h>

#include <algorithm>

#include "base/text.h"
#include "invoker/process_tree.h"

namespace sluice::invoker {
namespace {

constexpr std::uint32_t kWorkerProcessesMax = 1'024;  // of one worker, threads too
constexpr double kRestingCpus = 0.05;

// Names of tenants are letters, digits, '-', '_' and '.'; the beginning keeps them apart from the system's files.
std::string folder_of(const std::string& tenant) {
  return str(kTenantGroup, tenant);
}

std::string folder_of(ProcessId worker, const std::string& tenant) {
  return str(folder_of(tenant), "/worker-", worker.value());
}

}  // namespace

VcpuLimit::VcpuLimit(const std::string& groups) : cgroups_(groups) {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)::sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) allowed_.push_back(cpu);
  }
}

void VcpuLimit::confine(const Worker& worker, pid_t pid, std::optional<Bytes> memory) const {
  if (cgroups_.version() == 0) return;
  const std::string group = folder_of(worker.id, worker.tenant);
  (void)cgroups_.open(folder_of(worker.tenant));
  (void)cgroups_.enter(group, pid);
  (void)cgroups_.set_cpus(group, 1);
  if (memory) (void)cgroups_.set_memory(group, *memory);
  (void)cgroups_.set_processes(group, kWorkerProcessesMax);
}

void VcpuLimit::enter(const Worker& worker, pid_t pid) {
  workers_[worker.id] = {.tenant = worker.tenant, .pid = pid, .cpus = {}};
}

void VcpuLimit::limit(const std::string& tenant, std::optional<std::uint32_t> vcpu) {
  if (!cgroups_.limits_cpu()) return;
  const auto known = tenants_.find(tenant);
  if (known == tenants_.end() ? !vcpu : known->second.vcpu == vcpu) return;
  Tenant& limited = tenants_[tenant];
  limited.vcpu = vcpu;
  const std::string group = folder_of(tenant);
  (void)cgroups_.open(group);
  for (auto& [id, worker] : workers_) {
    if (worker.tenant != tenant || !vcpu || worker.vcpu <= *vcpu) continue;
    if (set_cpus(id, worker, *vcpu)) worker.vcpu = *vcpu;  // so that it gets more again with a batch of more
  }
  (void)cgroups_.set_cpus(group, vcpu);
  for (const int cpu : limited.cpus) --used_[cpu];
  limited.cpus.clear();
  if (vcpu && *vcpu < allowed_.size()) limited.cpus = least_used(*vcpu);
  for (const int cpu : limited.cpus) ++used_[cpu];
  (void)cgroups_.pin(group, limited.cpus.empty() ? allowed_ : limited.cpus);
  if (!vcpu) tenants_.erase(tenant);
}

bool VcpuLimit::set_cpus(ProcessId worker, const Limited& limited, double cpus) const {
  return cgroups_.limits_cpu() && cgroups_.set_cpus(folder_of(worker, limited.tenant), cpus);
}

void VcpuLimit::set(ProcessId worker, std::uint32_t vcpu) {
  const auto it = workers_.find(worker);
  if (it == workers_.end() || it->second.vcpu == vcpu || vcpu == 0) return;
  it->second.vcpu = vcpu;
  if (!set_cpus(worker, it->second, vcpu)) pin(it->second, vcpu);
}

void VcpuLimit::rest(ProcessId worker) {
  const auto it = workers_.find(worker);
  if (it != workers_.end() && set_cpus(worker, it->second, kRestingCpus)) it->second.vcpu = 0;
}

std::vector<int> VcpuLimit::least_used(std::size_t count) {
  std::vector<int> order = allowed_;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return used_[a] < used_[b]; });
  order.resize(std::min(order.size(), count));
  return order;
}

// To the CPUs that the fewest others are pinned to.
void VcpuLimit::pin(Limited& worker, std::uint32_t vcpu) {
  for (const int cpu : worker.cpus) --used_[cpu];
  worker.cpus = least_used(vcpu);
  for (const int cpu : worker.cpus) ++used_[cpu];
  keep_on(family_of(worker.pid), worker.cpus);
}

void VcpuLimit::leave(ProcessId worker) {
  const auto it = workers_.find(worker);
  if (it == workers_.end()) return;
  for (const int cpu : it->second.cpus) --used_[cpu];
  workers_.erase(it);
}

void VcpuLimit::clear(const Worker& worker) const {
  if (cgroups_.version() != 0) cgroups_.leave(folder_of(worker.id, worker.tenant));
}

std::int64_t VcpuLimit::memory_kills(const Worker& worker) const {
  return cgroups_.memory_kills(folder_of(worker.id, worker.tenant));
}

std::string VcpuLimit::describe_cpu() const {
  if (cgroups_.limits_cpu()) return str("cgroup v", cgroups_.version(), " quota");
  return "affinity and thread count (control groups are not allowed here)";
}

std::string VcpuLimit::describe_memory() const {
  if (cgroups_.limits_memory()) return str("cgroup v", cgroups_.version(), " limit");
  return "looked at after batches (control groups are not allowed here)";
}

}  // namespace sluice::invoker
