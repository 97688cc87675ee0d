#include "cli/doctor_checks.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/json_fields.h"
#include "cli/run_program.h"
#include "cli/server.h"
#include "cli/temporary_folder.h"
#include "cli/this_machine.h"
#include "cli/units.h"
#include "cli/worker_path.h"
#include "data/arena.h"
#include "data/clock.h"
#include "invoker/quarters.h"
#include "invoker/vcpu_limit.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using Level = Finding::Level;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// The folder itself, or the nearest above it that is there.
fs::path existing(const std::string& directory) {
  std::error_code failed;
  fs::path out = fs::absolute(directory, failed).lexically_normal();
  while (!fs::exists(out, failed) && out != out.parent_path()) out = out.parent_path();
  return out;
}

}  // namespace

Finding check_worker() {
  const TemporaryFolder folder;
  const auto options = spawner_options(folder.path());
  if (!options) return {Level::error, "worker", options.error().message};
  const auto ran = run_program({options->worker, "--engines"});
  if (!ran) return {Level::error, "worker", ran.error().message};
  if (ran->status != 0) {
    return {Level::error, "worker",
            fmt::format("{} does not run (status {}): is it of this version? build it again", options->worker,
                        ran->status)};
  }
  const std::vector<std::string> engines = lines(ran->output);
  const std::string has = fmt::format("{} runs {}", options->worker, fmt::join(engines, ", "));
  if (std::ranges::find(engines, "torch") == engines.end())
    return {Level::warning, "worker", has + "; for runtime torch install libtorch-dev and build again"};
  return {Level::ok, "worker", has};
}

Finding check_python() {
  constexpr const char* kScript = "import sys, numpy; print('%d.%d' % sys.version_info[:2], numpy.__version__)";
  const auto ran = run_program({python_program(), "-c", kScript});
  if (!ran) {
    return {Level::warning, "python",
            "there is no python3: functions of runtime python cannot run; install python3 and "
            "python3-numpy"};
  }
  const std::vector<std::string> words = lines(ran->output);
  if (ran->status != 0 || words.empty())
    return {Level::warning, "python",
            "python3 has no numpy: functions of runtime python cannot run; install python3-numpy, or name another one "
            "with SLUICE_PYTHON"};
  const std::size_t blank = words.front().find(' ');
  return {Level::ok, "python",
          fmt::format("python3 {} with numpy {}", words.front().substr(0, blank), words.front().substr(blank + 1))};
}

Finding check_limits() {
  const invoker::VcpuLimit limit(fmt::format("sluice-doctor-{}", ::getpid()));
  const std::string cpu = limit.describe_cpu(), memory = limit.describe_memory();
  if (cpu.starts_with("cgroup") && memory.starts_with("cgroup"))
    return {Level::ok, "limits", fmt::format("vCPUs by {}, memory by {}", cpu, memory)};
  return {Level::warning, "limits",
          fmt::format("vCPUs by {}, memory {}; run as root, or with `systemd-run --user --scope -p Delegate=yes`", cpu,
                      memory)};
}

Finding check_workers() {
  const auto quarters = invoker::Quarters::make({});
  if (!quarters) return {Level::error, "boundary", quarters.error().message};
  const std::string says = fmt::format("workers have {}", (*quarters)->describe());
  if ((*quarters)->own_users() || (*quarters)->landlock()) return {Level::ok, "boundary", says};
  return {Level::warning, "boundary", says + "; run as root, so that every tenant is a user of its own"};
}

Finding check_shared_memory() {
  const auto arena = data::Arena::make(Bytes::gb(2));  // as `sluice up` takes it
  if (!arena) return {Level::error, "shared memory", arena.error().message + "; give --objects a smaller size"};
  return {Level::ok, "shared memory", "2 GB of shared memory for tensors can be had"};
}

Finding check_open_files() {
  constexpr rlim_t kWanted = 4096;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const bool enough = limit.rlim_cur >= kWanted;
  const std::string unlimited = limit.rlim_cur == RLIM_INFINITY ? "any number of" : fmt::format("{}", limit.rlim_cur);
  if (enough) return {Level::ok, "open files", fmt::format("{} files may be open at once", unlimited)};
  return {Level::warning, "open files",
          fmt::format("{} files may be open at once, so that there can be no more connections and workers; "
                      "raise it with `ulimit -n {}`",
                      unlimited, std::min<rlim_t>(limit.rlim_max, 65536))};
}

Finding check_data(const std::string& directory) {
  constexpr double kWanted = 1e9;
  const fs::path folder = existing(directory);
  std::error_code failed;
  if (::access(folder.c_str(), W_OK | X_OK) != 0 || !fs::is_directory(folder, failed)) {
    return {Level::error, "data",
            fmt::format("{} cannot be written: choose another folder with --data or SLUICE_DATA", folder.string())};
  }
  const auto space = fs::space(folder, failed);
  const auto room = static_cast<double>(space.available);
  const std::string text = fmt::format("data directory {} is writable, {} free", directory, size_text(room));
  if (room < kWanted) return {Level::warning, "data", text + "; models and logs need more than 1 GB soon"};
  return {Level::ok, "data", text};
}

Finding check_gpu() {
  const auto worker = worker_program();
  if (!worker) return {Level::error, "gpu", worker.error().message};
  const auto found = find_gpus(*worker);
  if (!found) return {Level::warning, "gpu", found.error().message};
  if (found->empty()) return {Level::ok, "gpu", "no GPU, or no driver (libcuda.so.1): functions run on CPUs"};
  const auto shared = shared_as({}, *found);
  if (!shared) return {Level::warning, "gpu", shared.error().message};
  return {Level::ok, "gpu",
          fmt::format("{} × {}, {} each: {}", found->size(), found->front().name,
                      size_text(static_cast<double>(found->front().memory.count())), shared->describe())};
}

Finding check_clock() {
  constexpr double kYear2024Ms = 1'704'067'200'000;
  const double now_ms = static_cast<double>(data::now().count_ns()) / 1e6;
  if (now_ms < kYear2024Ms)
    return {Level::error, "clock",
            fmt::format("the clock says {}: set it, requests are kept by time", instant_text(now_ms))};
  return {Level::ok, "clock", fmt::format("the clock says {}", instant_text(now_ms))};
}

Finding check_server(const ServerOptions& server) {
  const auto client = find_server(server);
  if (!client) return {Level::error, "server", client.error().message};
  const auto status = ask(**client, {.target = "/v1/status", .timeout = Duration::s(2)});
  if (!status) return {Level::warning, "server", status.error().message};
  return {Level::ok, "server",
          fmt::format("the server at {} answers: sluice {}, {} applications", (*client)->server().text(),
                      text_at(status->json, "version"), whole_at(status->json, "applications"))};
}

}  // namespace sluice::cli
