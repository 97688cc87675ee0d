// VcpuLimit: keeps a worker to its vCPUs and its memory, by control groups where allowed, else by affinity (and the
// number of threads, which the worker is told); and all workers of a tenant together to the tenant's vCPUs, whatever
// they do besides batches: loading, ending, printing, what they leave running. Used by one thread, but for confine()
// and clear().
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "invoker/cgroup.h"
#include "invoker/process_id.h"

namespace sluice::invoker {

class VcpuLimit {
 public:
  // `groups`: the name of the control group; empty: none is used.
  explicit VcpuLimit(const std::string& groups);

  // Which worker, and whose.
  struct Worker {
    ProcessId id;
    std::string tenant;
  };
  // Puts a process into a control group of its own with one vCPU. The system may take tens of milliseconds for that:
  // the process should have been kept from running anything until then. Any thread.
  void confine(const Worker& worker, pid_t pid, std::optional<Bytes> memory) const;
  void enter(const Worker& worker, pid_t pid);
  // A tenant with fewer vCPUs than the machine also runs on so many CPUs alone, those that the fewest others with a
  // limit have: on the rest nobody has to wait until its turn is over. Nothing: no limit.
  void limit(const std::string& tenant, std::optional<std::uint32_t> vcpu);
  // For the batches from now on; nothing happens if it is so already.
  void set(ProcessId worker, std::uint32_t vcpu);
  // It runs nothing: until the next set() it gets hardly any time. Where there are no control groups nothing happens.
  void rest(ProcessId worker);
  void leave(ProcessId worker);
  // Ends what is left of one that has left, and waits for that. Any thread.
  void clear(const Worker& worker) const;

  // How many processes the system has ended because the worker's group held too much.
  [[nodiscard]] std::int64_t memory_kills(const Worker& worker) const;
  // Else somebody has to look at what workers hold.
  [[nodiscard]] bool limits_memory() const { return cgroups_.limits_memory(); }

  [[nodiscard]] std::string describe_cpu() const;     // "cgroup v1 quota", "affinity", …
  [[nodiscard]] std::string describe_memory() const;  // likewise

 private:
  struct Limited {
    std::string tenant;
    pid_t pid = 0;
    std::uint32_t vcpu = 0;
    std::vector<int> cpus;  // by affinity
  };
  struct Tenant {
    std::optional<std::uint32_t> vcpu;
    std::vector<int> cpus;  // it is kept on; empty: all
  };
  void pin(Limited& worker, std::uint32_t vcpu);
  [[nodiscard]] std::vector<int> least_used(std::size_t count);
  bool set_cpus(ProcessId worker, const Limited& limited, double cpus) const;

  CgroupRoot cgroups_;
  std::vector<int> allowed_;      // CPUs of this process
  std::map<int, unsigned> used_;  // by CPU: workers or tenants pinned to it
  std::map<ProcessId, Limited> workers_;
  std::map<std::string, Tenant> tenants_;  // that have a limit
};

}  // namespace sluice::invoker
