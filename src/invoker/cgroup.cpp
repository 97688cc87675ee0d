#include "invoker/cgroup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "invoker/process_tree.h"

namespace sluice::invoker {
namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::string_view kMain = "main";  // where the server's own processes are, in version 2

bool write_to(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.flush();
  return out.good();
}

std::vector<pid_t> processes_in(const std::string& group) {
  std::vector<pid_t> out;
  std::ifstream file(group + "/cgroup.procs");
  for (pid_t process = 0; file >> process;) out.push_back(process);
  return out;
}

// Ends what is in it and removes it. Those that are being ended start no others.
void end_group(const std::string& group) {
  constexpr int kTurns = 10;
  if (::access((group + "/pids.max").c_str(), F_OK) == 0) (void)write_to(group + "/pids.max", "0");
  if (::access((group + "/cgroup.kill").c_str(), F_OK) == 0) (void)write_to(group + "/cgroup.kill", "1");
  for (int i = 0; i < kTurns && ::rmdir(group.c_str()) != 0 && errno == EBUSY; ++i) {
    end_all([&] { return processes_in(group); });
  }
}

wire::Descriptor locked(const std::string& group, int how) {
  wire::Descriptor folder(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid() && ::flock(folder.get(), how) != 0) folder.reset();
  return folder;
}

void end_groups_in(const std::filesystem::path& group) {
  std::error_code failed;
  for (const auto& inside : std::filesystem::directory_iterator(group, failed)) {
    if (inside.is_directory(failed)) end_groups_in(inside.path());
  }
  end_group(group);
}

// Nothing but tenants' groups in it, as below.
bool has_our_shape(const std::filesystem::path& group) {
  std::error_code failed;
  for (const auto& inside : std::filesystem::directory_iterator(group, failed)) {
    if (inside.is_directory(failed) && !inside.path().filename().string().starts_with(kTenantGroup)) return false;
  }
  return processes_in(group).empty();
}

// The process that a group beside our own `PREFIX…-PID` is named after.
std::optional<std::int64_t> owner_of(const std::string& group, const std::string& own) {
  const std::string prefix = own.substr(0, own.find('-') + 1);
  if (prefix.empty() || !group.starts_with(prefix)) return std::nullopt;
  return parse_int(group.substr(group.rfind('-') + 1));
}

// A server that was killed could not remove its group. What its functions left there ends: a program that a function
// started outlives the worker, and would for ever. Servers hold a lock on their groups; a number alone does not tell,
// it may be of a process that we cannot see, or ours again.
void end_groups_of_the_dead(const std::string& own) {
  namespace fs = std::filesystem;
  std::error_code failed;
  for (const fs::directory_entry& group : fs::directory_iterator(fs::path(own).parent_path(), failed)) {
    const auto pid = owner_of(group.path().filename().string(), fs::path(own).filename().string());
    if (!pid || (*pid != ::getpid() && fs::exists(str("/proc/", *pid), failed))) continue;
    const wire::Descriptor free = locked(group.path(), LOCK_EX | LOCK_NB);
    if (free.valid() && has_our_shape(group.path())) end_groups_in(group.path());
  }
}

std::string line_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// In version 1 a new group has neither CPUs nor memory.
bool inherit_cpuset(const std::string& group) {
  const std::string parent = group.substr(0, group.rfind('/'));
  return write_to(group + "/cpuset.mems", line_of(parent + "/cpuset.mems")) &&
         write_to(group + "/cpuset.cpus", line_of(parent + "/cpuset.cpus"));
}

// In version 2. Some systems have no cpuset, some no pids.
bool hand_on_all(const std::string& group) {
  const std::string control = group + "/cgroup.subtree_control";
  for (const char* controller : {"+cpuset", "+pids"}) (void)write_to(control, controller);
  return write_to(control, "+cpu +memory");
}

// A group with processes hands nothing on: our own processes, if there are no others, move one down.
bool hand_on(const std::string& group) {
  if (hand_on_all(group)) return true;
  const std::vector<pid_t> inside = processes_in(group), ours = family_of(::getpid());
  const auto is_ours = [&](pid_t process) { return std::find(ours.begin(), ours.end(), process) != ours.end(); };
  if (!std::all_of(inside.begin(), inside.end(), is_ours)) return false;
  const std::string main = str(group, "/", kMain);
  (void)::mkdir(main.c_str(), 0755);
  for (const pid_t process : inside) (void)write_to(main + "/cgroup.procs", std::to_string(process));
  return hand_on_all(group);
}

}  // namespace

CgroupRoot::CgroupRoot(const std::string& name, Sources sources) : sources_(std::move(sources)) {
  if (name.empty()) return;
  try_version_2(name);
  if (version_ == 0) try_version_1(name);
}

// Where a hierarchy is mounted: by controller in version 1, "" in version 2.
std::string CgroupRoot::mounted_at(const std::string& controller) const {
  std::ifstream mounts(sources_.mounts);
  std::string device, folder, type, options, rest;
  while (mounts >> device >> folder >> type >> options && std::getline(mounts, rest)) {
    if (controller.empty() && type == "cgroup2") return folder;
    if (controller.empty() || type != "cgroup") continue;
    std::istringstream list(options);
    for (std::string option; std::getline(list, option, ',');) {
      if (option == controller) return folder;
    }
  }
  return {};
}

// Our own group in that hierarchy: lines are `4:cpu,cpuacct:/path` or `0::/path`.
std::string CgroupRoot::own_path(const std::string& controller) const {
  std::ifstream groups(sources_.groups);
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::istringstream list(line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (controller.empty() && second == first + 1) return path;
    for (std::string name; std::getline(list, name, ',');) {
      if (!controller.empty() && name == controller) return path;
    }
  }
  return {};
}

// The folder for a new group beside our own processes; some containers mount their group as the root.
std::string CgroupRoot::make_group(const std::string& controller, const std::string& name) {
  const std::string mount = mounted_at(controller);
  if (mount.empty()) return {};
  std::string own = mount + own_path(controller);
  if (controller.empty() && own.ends_with(str("/", kMain))) own.resize(own.rfind('/'));  // we moved there
  for (const std::string& parent : {own, mount}) {
    const std::string folder = str(parent, "/", name);
    end_groups_of_the_dead(folder);
    if (::mkdir(folder.c_str(), 0700) != 0) continue;  // for nobody else: functions could hold the lock
    wire::Descriptor held = locked(folder, LOCK_SH | LOCK_NB);
    // Another server may have taken it for one that was left.
    if (!held.valid() || !std::filesystem::exists(folder)) {
      (void)::rmdir(folder.c_str());
      continue;
    }
    held_.push_back(std::move(held));
    return folder;
  }
  return {};
}

void CgroupRoot::try_version_2(const std::string& name) {
  const std::string folder = make_group("", name);
  if (folder.empty()) return;
  const std::string parent = folder.substr(0, folder.size() - name.size() - 1);
  const std::string control = folder + "/cgroup.subtree_control";
  if (!hand_on(parent) || !write_to(control, "+cpu +memory")) {
    ::rmdir(folder.c_str());
    return;
  }
  version_ = 2;
  cpu_ = memory_ = folder;
  if (write_to(control, "+pids")) processes_ = folder;
  if (write_to(control, "+cpuset")) cpuset_ = folder;
}

void CgroupRoot::try_version_1(const std::string& name) {
  processes_ = make_group("pids", name);  // first: what others left starts nothing any more while it is ended
  cpu_ = make_group("cpu", name);
  memory_ = make_group("memory", name);
  cpuset_ = make_group("cpuset", name);
  if (!cpuset_.empty() && !inherit_cpuset(cpuset_)) {
    ::rmdir(cpuset_.c_str());
    cpuset_.clear();
  }
  if (!cpu_.empty() && !write_to(cpu_ + "/cpu.cfs_quota_us", "-1")) {
    ::rmdir(cpu_.c_str());
    cpu_.clear();
  }
  if (!folders().empty()) version_ = 1;
}

std::set<std::string> CgroupRoot::folders() const {
  std::set<std::string> out{cpu_, memory_, processes_};
  out.erase("");
  return out;
}

CgroupRoot::~CgroupRoot() {
  if (!processes_.empty()) end_groups_in(processes_);  // first: as above
  std::set<std::string> all = folders();
  if (!cpuset_.empty()) all.insert(cpuset_);
  for (const std::string& folder : all) {
    end_groups_in(folder);
    end_groups_of_the_dead(folder);
  }
}

bool CgroupRoot::open(const std::string& tenant) const {
  for (const std::string& folder : folders()) {
    const std::string own = str(folder, "/", tenant);
    if (::mkdir(own.c_str(), 0755) != 0 || version_ != 2) continue;
    if (!hand_on_all(own)) return false;
  }
  if (version_ == 1 && !cpuset_.empty()) {
    const std::string own = str(cpuset_, "/", tenant);
    if (::mkdir(own.c_str(), 0755) == 0) return inherit_cpuset(own);
  }
  return version_ != 0;
}

bool CgroupRoot::enter(const std::string& worker, pid_t pid) const {
  bool all = version_ != 0;
  for (const std::string& folder : folders()) {
    const std::string own = str(folder, "/", worker);
    (void)::mkdir(own.c_str(), 0755);
    all = write_to(own + "/cgroup.procs", std::to_string(pid)) && all;
  }
  if (version_ == 1 && !cpuset_.empty()) {
    const std::string tenant = worker.substr(0, worker.find('/'));
    all = write_to(str(cpuset_, "/", tenant, "/cgroup.procs"), std::to_string(pid)) && all;
  }
  return all;
}

bool CgroupRoot::set_cpus(const std::string& group, std::optional<double> cpus) const {
  if (cpu_.empty()) return false;
  const std::string own = str(cpu_, "/", group);
  const std::string quota = cpus ? std::to_string(static_cast<std::int64_t>(*cpus * kPeriodUs)) : "";
  if (version_ == 2) return write_to(own + "/cpu.max", str(cpus ? quota : "max", " ", kPeriodUs));
  return write_to(own + "/cpu.cfs_quota_us", cpus ? quota : "-1");
}

bool CgroupRoot::pin(const std::string& tenant, const std::vector<int>& cpus) const {
  if (cpuset_.empty()) return false;
  std::string list;
  for (const int cpu : cpus) list += str(list.empty() ? "" : ",", cpu);
  return write_to(str(cpuset_, "/", tenant, "/cpuset.cpus"), list);
}

bool CgroupRoot::set_memory(const std::string& worker, Bytes bytes) const {
  if (memory_.empty()) return false;
  const std::string own = str(memory_, "/", worker);
  return write_to(own + (version_ == 2 ? "/memory.max" : "/memory.limit_in_bytes"), std::to_string(bytes.count()));
}

std::int64_t CgroupRoot::memory_kills(const std::string& worker) const {
  if (memory_.empty()) return 0;
  std::ifstream counts(str(memory_, "/", worker, version_ == 2 ? "/memory.events" : "/memory.oom_control"));
  std::string name;
  for (std::int64_t count = 0; counts >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

bool CgroupRoot::set_processes(const std::string& worker, std::uint32_t most) const {
  return !processes_.empty() && write_to(str(processes_, "/", worker, "/pids.max"), std::to_string(most));
}

void CgroupRoot::leave(const std::string& worker) const {
  (void)set_processes(worker, 0);  // in version 1 their number is limited by a group, and they are ended by others
  for (const std::string& folder : folders()) end_group(str(folder, "/", worker));
}

}  // namespace sluice::invoker
