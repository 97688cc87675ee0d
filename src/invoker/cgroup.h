// Cgroup: under a group of our own one for every tenant, and in it one for every worker, version 1 or 2, whichever the
// machine allows. Found out once by trying, so that `status` says what really holds.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "wire/channel.h"

namespace sluice::invoker {

// What the names of tenants' groups begin with: a group with others in it was not made here.
inline constexpr std::string_view kTenantGroup = "tenant-";

class CgroupRoot {
 public:
  // Where the system says what is mounted and in which groups we are.
  struct Sources {
    std::string mounts = "/proc/self/mounts", groups = "/proc/self/cgroup";
  };
  // `name`: "PREFIX-PID" or "PREFIX-WHAT-PID", of the group that all workers' groups are in; removed again at the end.
  // What is left in such a group of a process that was killed is ended. A controller that cannot be used is absent; of
  // no name: all are. In version 2 a group with processes hands no controllers on: where our own group has no processes
  // but ours, as that of a service has, they move into a group `main` inside of it, beside the workers'.
  explicit CgroupRoot(const std::string& name) : CgroupRoot(name, Sources()) {}
  CgroupRoot(const std::string& name, Sources sources);
  ~CgroupRoot();
  CgroupRoot(const CgroupRoot&) = delete;
  CgroupRoot& operator=(const CgroupRoot&) = delete;

  [[nodiscard]] bool limits_cpu() const { return !cpu_.empty(); }
  [[nodiscard]] bool limits_memory() const { return !memory_.empty(); }
  [[nodiscard]] bool limits_processes() const { return !processes_.empty(); }
  [[nodiscard]] int version() const { return version_; }

  // `tenant` is the name of a group, `worker` is "TENANT/NAME". Any thread, but for one group one at a time.
  bool open(const std::string& tenant) const;
  // A group for one process, of a tenant whose group is open; false if that failed.
  bool enter(const std::string& worker, pid_t pid) const;
  // `group`: of a tenant or a worker. In version 1 no worker may have more than its tenant. Nothing: no limit.
  bool set_cpus(const std::string& group, std::optional<double> cpus) const;
  // All workers of the tenant run on these alone.
  bool pin(const std::string& tenant, const std::vector<int>& cpus) const;
  bool set_memory(const std::string& worker, Bytes bytes) const;
  // How many processes of the group the system has ended because it held too much.
  [[nodiscard]] std::int64_t memory_kills(const std::string& worker) const;
  bool set_processes(const std::string& worker, std::uint32_t most) const;  // threads count as well
  // Ends what is still in the group: what a worker started does not outlive it.
  void leave(const std::string& worker) const;

 private:
  void try_version_1(const std::string& name);
  void try_version_2(const std::string& name);
  [[nodiscard]] std::string mounted_at(const std::string& controller) const;
  [[nodiscard]] std::string own_path(const std::string& controller) const;
  [[nodiscard]] std::string make_group(const std::string& controller, const std::string& name);
  [[nodiscard]] std::set<std::string> folders() const;  // that have a group for every worker

  Sources sources_;
  int version_ = 0;
  std::string cpu_, memory_, processes_, cpuset_;  // folders; equal in version 2
  std::vector<wire::Descriptor> held_;             // their locks: others see that we live
};

}  // namespace sluice::invoker
