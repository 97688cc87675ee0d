#include "invoker/vcpu_limit.h"

#include <sched.h>

#include <algorithm>

#include "base/text.h"
#include "invoker/process_tree.h"

namespace sluice::invoker {
namespace {

constexpr std::uint32_t kWorkerProcessesMax = 1'024;  // of one worker, threads too
constexpr double kRestingCpus = 0.05;

std::string folder_of(ProcessId worker) {
  return str("worker-", worker.value());
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

void VcpuLimit::confine(ProcessId worker, pid_t pid, std::optional<Bytes> memory) const {
  if (cgroups_.version() == 0) return;
  (void)cgroups_.enter(folder_of(worker), pid);
  (void)cgroups_.set_cpus(folder_of(worker), 1);
  if (memory) (void)cgroups_.set_memory(folder_of(worker), *memory);
  (void)cgroups_.set_processes(folder_of(worker), kWorkerProcessesMax);
}

void VcpuLimit::set(ProcessId worker, std::uint32_t vcpu) {
  const auto it = workers_.find(worker);
  if (it == workers_.end() || it->second.vcpu == vcpu || vcpu == 0) return;
  it->second.vcpu = vcpu;
  if (cgroups_.limits_cpu() && cgroups_.set_cpus(folder_of(worker), vcpu)) return;
  pin(it->second, vcpu);
}

void VcpuLimit::rest(ProcessId worker) {
  const auto it = workers_.find(worker);
  if (it != workers_.end() && cgroups_.limits_cpu() && cgroups_.set_cpus(folder_of(worker), kRestingCpus))
    it->second.vcpu = 0;
}

// To the CPUs that the fewest others are pinned to.
void VcpuLimit::pin(Limited& worker, std::uint32_t vcpu) {
  for (const int cpu : worker.cpus) --used_[cpu];
  std::vector<int> order = allowed_;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return used_[a] < used_[b]; });
  order.resize(std::min<std::size_t>(order.size(), vcpu));
  for (const int cpu : order) ++used_[cpu];
  keep_on(family_of(worker.pid), order);
  worker.cpus = std::move(order);
}

void VcpuLimit::leave(ProcessId worker) {
  const auto it = workers_.find(worker);
  if (it == workers_.end()) return;
  for (const int cpu : it->second.cpus) --used_[cpu];
  workers_.erase(it);
}

void VcpuLimit::clear(ProcessId worker) const {
  if (cgroups_.version() != 0) cgroups_.leave(folder_of(worker));
}

bool VcpuLimit::was_over_memory(ProcessId worker) const {
  return cgroups_.was_over_memory(folder_of(worker));
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
