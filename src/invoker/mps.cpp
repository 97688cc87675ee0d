#include "invoker/mps.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "wire/channel.h"

namespace sluice::invoker {
namespace {

constexpr int kWaitMs = 10'000;  // a daemon is there in a tenth of a second

// Runs the program to its end with these words and this on its standard input: a daemon goes on behind it. It has
// nothing of ours but the environment.
Status run(const std::vector<std::string>& words, const std::vector<std::string>& variables, std::string_view input) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{ErrorCode::unavailable, "no pipe can be made"};
  const wire::Descriptor read(ends[0]);
  wire::Descriptor write(ends[1]);
  std::vector<std::string> environment = variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("CUDA_")) environment.emplace_back(*variable);
  }
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, read.get(), 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words.front().c_str(), &actions, nullptr, pointers(words).data(),
                                    pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Error{ErrorCode::unavailable, std::strerror(failed)};
  (void)!::write(write.get(), input.data(), input.size());
  write.reset();
  int status = 0;
  for (int ms = 0; ::waitpid(pid, &status, WNOHANG) == 0; ++ms) {
    if (ms == kWaitMs) {
      (void)::kill(pid, SIGKILL);
      (void)::waitpid(pid, nullptr, 0);
      return Error{ErrorCode::unavailable, "it does not end"};
    }
    (void)::usleep(1'000);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Done{};
  return Error{ErrorCode::unavailable,
               WIFEXITED(status) ? str("it ended with status ", WEXITSTATUS(status)) : str("it was killed")};
}

constexpr std::string_view kMpsParent = "/tmp";  // names of sockets are short, and workers of all tenants see it
constexpr std::string_view kMpsFolders = "sluice-mps-";

std::vector<std::string> places_in(const std::string& folder) {
  return {str("CUDA_MPS_PIPE_DIRECTORY=", folder, "/pipe"), str("CUDA_MPS_LOG_DIRECTORY=", folder, "/log")};
}

// What a server that was killed left running.
void end_leftovers(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(kMpsParent, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kMpsFolders)) continue;
    const auto server =
        parse_int(name.substr(kMpsFolders.size(), name.find('-', kMpsFolders.size()) - kMpsFolders.size()));
    struct stat about {};
    const bool ours =
        ::lstat(entry.path().c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::getuid();
    if (ours && server && !fs::exists(str("/proc/", *server), failed)) left.push_back(entry.path());
  }
  for (const fs::path& folder : left) {
    for (const fs::directory_entry& daemon : fs::directory_iterator(folder, failed)) {
      (void)run({program}, places_in(daemon.path().string()), "quit\n");
    }
    fs::remove_all(folder, failed);
  }
}

}  // namespace

Result<std::unique_ptr<Mps>> Mps::start(const std::vector<GpuDevice>& gpus, std::string program) {
  end_leftovers(program);
  std::string folder = str(kMpsParent, "/", kMpsFolders, ::getpid(), "-XXXXXX");
  if (::mkdtemp(folder.data()) == nullptr) {
    return Error{ErrorCode::io, str("no folder for MPS can be made: ", std::strerror(errno))};
  }
  (void)::chmod(folder.c_str(), 0755);
  std::unique_ptr<Mps> out(new Mps(std::move(program), std::move(folder)));
  for (const GpuDevice& gpu : gpus) {
    if (const Status started = out->start_one(gpu); !started) {
      return Error{ErrorCode::unavailable, str("`", out->program_, " -d -multiuser-server` cannot be used for ",
                                               gpu.uuid, ": ", started.error().message)};
    }
  }
  return out;
}

// Workers are users of their own, which a daemon for one user would let in one after the other.
Status Mps::start_one(const GpuDevice& gpu) {
  const std::string folder = str(folder_, "/", environments_.size());
  std::error_code failed;
  for (const char* name : {"/pipe", "/log"}) std::filesystem::create_directories(folder + name, failed);
  if (failed) return Error{ErrorCode::io, failed.message()};
  const std::vector<std::string> found = places_in(folder);
  std::vector<std::string> variables = found;
  variables.push_back(str("CUDA_VISIBLE_DEVICES=", gpu.uuid));
  if (const Status started = run({program_, "-d", "-multiuser-server"}, variables, ""); !started) return started;
  environments_.push_back(found);
  return Done{};
}

Mps::~Mps() {
  for (const std::vector<std::string>& variables : environments_) (void)run({program_}, variables, "quit\n");
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace sluice::invoker
