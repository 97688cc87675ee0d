#include "invoker/quarters.h"

#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "base/text.h"

namespace sluice::invoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "sluice-workers-";
constexpr mode_t kEnter = 0711, kOwn = 0700;  // a worker gets to its folder, and sees no other

Error cannot_make(const std::string& folder, int reason) {
  return {ErrorCode::io, str("'", folder, "' cannot be made for workers: ", std::strerror(reason))};
}

// Folders are called PREFIX, the server's process id, six letters.
void remove_those_of_the_dead(const fs::path& parent) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !entry.is_directory(failed) || entry.is_symlink(failed)) continue;
    const auto pid = parse_int(name.substr(kPrefix.size(), name.rfind('-') - kPrefix.size()));
    struct stat about {};
    const bool ours = ::lstat(entry.path().c_str(), &about) == 0 && about.st_uid == ::geteuid();
    if (pid && ours && !fs::exists(str("/proc/", *pid), failed)) fs::remove_all(entry.path(), failed);
  }
}

// Whether all these users exist in our user namespace: lines are `inside outside count`.
bool mapped(std::uint32_t first, std::uint32_t count) {
  std::ifstream map("/proc/self/uid_map");
  for (std::uint64_t inside = 0, outside = 0, length = 0; map >> inside >> outside >> length;) {
    if (inside <= first && std::uint64_t{first} + count <= inside + length) return true;
  }
  return false;
}

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

bool within(const fs::path& inner, const fs::path& outer) {
  const fs::path relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Result<std::shared_ptr<Quarters>> Quarters::make(Options options) {
  if (!options.closed.empty()) (void)::chmod(options.closed.c_str(), kOwn);
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  remove_those_of_the_dead(parent);
  std::string folder = (parent / str(kPrefix, ::getpid(), "-XXXXXX")).string();
  if (::mkdtemp(folder.data()) == nullptr || ::chmod(folder.c_str(), kEnter) != 0) return cannot_make(folder, errno);
  if (::geteuid() != 0 || !mapped(options.first_user, options.users)) options.users = 0;
  return std::shared_ptr<Quarters>(new Quarters(std::move(options), std::move(folder)));
}

Quarters::Quarters(Options options, std::string folder)
    : options_(std::move(options)), folder_(std::move(folder)), landlock_(landlock_version()) {}

Quarters::~Quarters() {
  std::error_code failed;
  fs::remove_all(folder_, failed);
}

Result<Quarters::Place> Quarters::of(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  if (const auto known = places_.find(tenant); known != places_.end()) return known->second;
  constexpr std::uint32_t kNumbers = 1u << 16;  // of folders, where there are no users
  const std::uint32_t range = own_users() ? options_.users : kNumbers;
  if (tenants_.size() >= range) {
    return Error{ErrorCode::unavailable, str("tenant '", tenant, "' gets no user: all ", range, " are taken")};
  }
  Hash hash;
  hash.add(tenant);
  auto number = static_cast<std::uint32_t>(hash.value() % range);
  while (tenants_.contains(number)) number = (number + 1) % range;
  Place place{.user = own_users() ? options_.first_user + number : 0, .folder = str(folder_, "/", number)};
  if (const Status made = make_folder(place); !made) return made.error();
  tenants_.emplace(number, tenant);
  return places_.emplace(tenant, std::move(place)).first->second;
}

Status Quarters::make_folder(const Place& place) {
  if (::mkdir(place.folder.c_str(), kOwn) != 0) return cannot_make(place.folder, errno);
  if (place.user != 0 && ::chown(place.folder.c_str(), place.user, place.user) != 0)
    return cannot_make(place.folder, errno);
  return Done{};
}

Result<std::string> Quarters::keep(const std::string& file) {
  constexpr mode_t kReadable = 0644;
  const fs::path target = fs::path(folder_) / fs::path(file).filename();
  std::error_code failed;
  fs::copy_file(file, target, fs::copy_options::overwrite_existing, failed);
  if (failed || ::chmod(target.c_str(), kReadable) != 0)
    return cannot_make(target.string(), failed ? failed.value() : errno);
  return target.string();
}

bool Quarters::open(const std::string& path) const {
  std::error_code failed;
  if (options_.closed.empty()) return true;
  const fs::path real = fs::weakly_canonical(path, failed), data = fs::weakly_canonical(options_.closed, failed);
  return !failed && !within(real, data) && !within(data, real);
}

std::string Quarters::describe() const {
  const std::string always =
      "no new privileges, no descriptors of the server, an arena and an environment of their own";
  if (own_users()) {
    return str("a user for each tenant (", options_.first_user, " to ", options_.first_user + options_.users - 1, "), ",
               always);
  }
  if (landlock_ > 0) return str("landlock (version ", landlock_, ") for files, ", always);
  return str(always, "; they read the files that the server reads (not root, and the kernel has no landlock)");
}

}  // namespace sluice::invoker
