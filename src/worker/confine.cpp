#include "worker/confine.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "wire/channel.h"

namespace sluice::worker {
namespace {

// As of the newest version that is used; older kernels are told a part of it.
struct Ruleset {
  std::uint64_t files = 0, network = 0, scoped = 0;
};
constexpr int kScoped = 6;  // the version that knows Ruleset::scoped
constexpr std::uint64_t kTruncate = 1u << 14, kScopeSockets = 1u << 0, kScopeSignals = 1u << 1;
constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kAllOfVersion1 = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

Error failed(const char* what) {
  return {ErrorCode::unavailable, str("a worker cannot be confined: ", what, ": ", std::strerror(errno))};
}

Status become(std::uint32_t user) {
  if (user == 0) return Done{};
  if (::setgroups(0, nullptr) != 0) return failed("setgroups");
  if (::setresgid(user, user, user) != 0) return failed("setresgid");
  if (::setresuid(user, user, user) != 0) return failed("setresuid");
  return Done{};
}

// One that stays root looks into other processes by its capabilities, whatever landlock says.
Status drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0 ? Status(Done{}) : failed("capset");
}

class Landlock {
 public:
  explicit Landlock(int version) {
    handled_ = kAllOfVersion1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (version >= 3 ? kTruncate : 0);
    const Ruleset rules{.files = handled_, .scoped = version >= kScoped ? kScopeSockets | kScopeSignals : 0};
    const std::size_t size = version >= kScoped ? sizeof rules : sizeof rules.files;
    ruleset_ = wire::Descriptor(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, size, 0)));
  }
  // What is not there is not allowed.
  void allow(const std::string& path, std::uint64_t access) {
    const wire::Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat about {};
    if (!place.valid() || ::fstat(place.get(), &about) != 0) return;
    allow(place.get(), S_ISDIR(about.st_mode) ? access : access & kOfFiles);
  }
  void allow(int place, std::uint64_t access) {
    const landlock_path_beneath_attr rule{.allowed_access = access & handled_, .parent_fd = place};
    (void)::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  }
  [[nodiscard]] bool hold() const {
    return ruleset_.valid() && ::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) == 0;
  }

 private:
  static constexpr std::uint64_t kOfFiles = kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
  wire::Descriptor ruleset_;
  std::uint64_t handled_ = 0;
};

// Read: the system's folders and what was named. Write: its own folder, and devices that keep nothing or are GPUs.
Status keep_to_files(const wire::Confinement& confinement) {
  const int version = landlock_version();
  if (!confinement.landlock || version == 0) return Done{};
  Landlock rules(version);
  for (const char* folder : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/proc", "/sys"}) {
    rules.allow(folder, kRead);
  }
  for (const std::string& path : confinement.readable) rules.allow(path, kRead);
  if (confinement.model) rules.allow(wire::kModelDescriptor, kReadFile);
  if (!confinement.scratch.empty()) rules.allow(confinement.scratch, ~std::uint64_t{0});
  const std::uint64_t use = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/dri"}) {
    rules.allow(device, use | LANDLOCK_ACCESS_FS_READ_DIR);
  }
  std::error_code none;
  for (const auto& device : std::filesystem::directory_iterator("/dev", none)) {
    if (device.path().filename().string().starts_with("nvidia")) {
      rules.allow(device.path().string(), use | LANDLOCK_ACCESS_FS_READ_DIR);
    }
  }
  return rules.hold() ? Status(Done{}) : failed("landlock");
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

Status confine(const wire::Confinement& confinement, pid_t parent) {
  const rlimit no_dump{0, 0};  // a crash is no reason to write all of its memory somewhere
  (void)::setrlimit(RLIMIT_CORE, &no_dump);
  if (confinement.processes_max > 0) {
    const rlimit processes{confinement.processes_max, confinement.processes_max};
    if (::setrlimit(RLIMIT_NPROC, &processes) != 0) return failed("setrlimit");
  }
  if (const Status became = become(confinement.user); !became) return became;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs");
  if (const Status kept = keep_to_files(confinement); !kept) return kept;
  if (const Status dropped = drop_capabilities(); !dropped) return dropped;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return Error{ErrorCode::unavailable, "the server was gone before its worker was there"};
  return Done{};
}

}  // namespace sluice::worker
