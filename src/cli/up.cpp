#include "cli/up.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/data_directory.h"
#include "cli/demo.h"
#include "cli/server_log.h"
#include "cli/service_manager.h"
#include "cli/terminal.h"
#include "cli/up_settings.h"
#include "cli/worker_path.h"
#include "gateway/http_server.h"
#include "gateway/models.h"
#include "gateway/router.h"
#include "live/platform.h"

namespace sluice::cli {
namespace {

constexpr Duration kDrain = Duration::s(30);

// By the main thread, which may wait for a terminal. What other threads have to say goes through the log.
void print_line(std::FILE* file, const std::string& line) {
  fmt::print(file, "{}\n", line);
  std::fflush(file);
}

int fail(const std::string& message) {
  fmt::print(stderr, "error: {}\n", message);
  return 1;
}

Result<live::PlatformOptions> platform_options(const UpOptions& options, OnRemark say) {
  live::PlatformOptions out{
      .directory = data_directory(options.data), .scheduler = options.scheduler, .say = std::move(say)};
  if (options.admission == "slo") out.parameters["slo"] = 1;
  const auto objects = objects_of(options);
  if (!objects) return objects.error();
  out.objects = *objects;
  if (options.durable) out.store.durability = store::Durability::power;
  auto spawner = spawner_options(out.directory);
  if (!spawner) return spawner.error();
  out.agent.spawner = std::move(*spawner);
  auto gpus = gpus_of(options, out.agent.spawner.worker);
  if (!gpus) return gpus.error();
  out.agent.gpus = std::move(*gpus);
  auto nodes = nodes_of(options, out.agent.gpus);
  if (!nodes) return nodes.error();
  out.nodes = std::move(*nodes);
  return out;
}

std::string state_of(const live::Model& model) {
  const std::string state(gateway::name_of(model.state));
  return model.reason.empty() ? state : str(state, ": ", model.reason);
}

// What other shells have to know of the server to find it; nothing where it is as they expect.
std::string exports(const std::string& directory, const std::string& url, bool has_socket) {
  const bool elsewhere = directory != data_directory("");
  std::string out = elsewhere ? str(" SLUICE_DATA=", std::filesystem::absolute(directory).string()) : "";
  if (!has_socket && url != "http://127.0.0.1:8000") out += str(" SLUICE_SERVER=", url);
  return out;
}

void print_tables(const live::Snapshot& snapshot, const std::string& url, const std::string& exported) {
  std::size_t width = std::string_view("Application").size();
  for (const live::Model& model : snapshot.models) width = std::max(width, model.name.size());
  fmt::print("\n{:<{}}  {:<8} {:<8} {}\n", "Application", width, "Version", "SLO", "Status");
  for (const live::Model& model : snapshot.models) {
    if (model.is_function) continue;
    fmt::print("{:<{}}  {:<8} {:<8} {}\n", model.name, width, model.version,
               to_string(model.application->objective.latency), state_of(model));
    for (const Function& function : model.application->functions) {
      const Body& body = function.cpu ? *function.cpu : *function.gpu;
      fmt::print("  {:<{}} {}\n", function.name, width, name_of(body.runtime));
    }
  }
  if (snapshot.models.empty()) fmt::print("(none yet: sluice deploy FILE)\n");
  if (!snapshot.nodes.empty()) {
    const live::NodeInfo& node = snapshot.nodes.front();
    fmt::print("\nvCPUs     {} on {} machine{}, enforced by {}\nmemory    {}\nGPU       {}\nworkers   {}\n", node.vcpu,
               snapshot.nodes.size(), snapshot.nodes.size() == 1 ? "" : "s", node.vcpu_enforced, node.memory_enforced,
               node.gpu_enforced, node.workers_enforced);
  }
  fmt::print("data      {}\nlistening {}\n", snapshot.data_directory, url);
  if (!exported.empty()) fmt::print("elsewhere export{}\n", exported);
  std::fflush(stdout);
}

// Signals are taken by the main thread alone, with sigwait: nothing has to be async-signal-safe.
sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  // On a terminal SIGHUP says that the terminal is gone, and ends the server as it ends everything there.
  if (::isatty(STDIN_FILENO) == 0) sigaddset(&set, SIGHUP);
  return set;
}

// The signal to end. Meanwhile SIGHUP reads again what is in files, and certificates are looked at now and then:
// whoever renews them need not tell.
void wait_for_end(const sigset_t& signals, const ServerLog& log, gateway::TlsCertificates* tls) {
  constexpr timespec kLookEvery{.tv_sec = 2, .tv_nsec = 0};
  for (;;) {
    const int signal =
        tls == nullptr ? ::sigwaitinfo(&signals, nullptr) : ::sigtimedwait(&signals, nullptr, &kLookEvery);
    if (signal == SIGHUP) {
      log.reopen();
      log.say({.component = "server", .text = "SIGHUP: files are read and opened again", .quiet = true});
      if (tls != nullptr) tls->reload();
    } else if (signal > 0) {
      return;
    } else if (tls != nullptr) {
      tls->reload_if_changed();
    }
  }
}

void drain(live::Platform& platform, gateway::HttpServer& server, const sigset_t& signals, const ServerLog& log) {
  log.say(str("draining: finishing what has begun, at most ", to_string(kDrain), "; once more to stop at once"));
  // A second signal ends the process whatever it is doing: everything that must last is on disk.
  std::thread impatient([signals] {
    int again = 0;
    while (::sigwait(&signals, &again) == 0 && again == SIGHUP) {
    }
    ::_exit(128 + again);
  });
  impatient.detach();
  const bool drained = platform.drain(kDrain);
  server.stop(Duration::s(5));
  log.say(drained ? "ok: everything was answered" : "warning: some requests were not answered in time");
}

// Run by the server's first thread.
gateway::Companion scheduler_of(live::Platform& platform) {
  return {.descriptor = platform.descriptor(),
          .lend = [&platform](std::function<void()> soon) { platform.lend(std::move(soon)); },
          .work = [&platform] { platform.work(); },
          .take_back = [&platform] { platform.take_back(); }};
}

}  // namespace

int check_up(const UpOptions& options) {
  if (const Status checked = check_options(options); !checked)
    return fail(with_place(options, checked.error().message));
  print_line(stdout, "ok: these options can be used");
  return 0;
}

int up_command(const UpOptions& options) {
  const sigset_t signals = awaited_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  // With --json stdout has nothing but that, so people read stderr.
  std::FILE* for_people = options.json ? stderr : stdout;
  const auto log = ServerLog::open(
      {.format = options.log, .level = options.log_level, .file = options.log_file, .people_on_stderr = options.json});
  if (!log) return fail(with_place(options, log.error().message));
  std::optional<gateway::RequestIds> ids;  // before the platform, whose last remarks may name requests
  const OnRemark say = [&log](const Remark& remark) { (*log)->say(remark); };
  const auto tls = certificates_of(options, say);
  if (!tls) return fail(tls.error().message);
  const auto metrics = metrics_of(options);
  if (!metrics) return fail(with_place(options, metrics.error().message));
  const auto body_max = request_bytes_of(options);
  if (!body_max) return fail(with_place(options, body_max.error().message));
  auto configured = platform_options(options, say);
  if (!configured) return fail(with_place(options, configured.error().message));
  const std::string directory = configured->directory;
  // Landlock keeps nobody from connecting: where functions are the server's own user there is no socket.
  const auto quarters = configured->agent.spawner.quarters;
  const bool apart = quarters != nullptr && quarters->own_users();
  auto platform = live::Platform::start(std::move(*configured));
  if (!platform) return fail(platform.error().message);
  ids.emplace((*platform)->id_secret());
  (*log)->name_requests(&*ids);
  const auto router = gateway::make_router(**platform, (*platform)->identity(),
                                           {.version = SLUICE_VERSION,
                                            .triton_errors = options.triton_errors,
                                            .id_secret = (*platform)->id_secret(),
                                            .open_metrics = *metrics});
  gateway::ServerOptions serving{
      .listen = options.listen, .socket = apart ? socket_in(directory) : "", .tls = *tls, .threads = options.threads};
  serving.body_bytes_max = static_cast<std::size_t>(body_max->count());
  serving.bodies_bytes_max = std::max(serving.bodies_bytes_max, serving.body_bytes_max);  // the longest fits alone
  auto server = gateway::HttpServer::start(std::move(serving), *router, scheduler_of(**platform));
  if (!server) return fail(server.error().message);
  const std::string url = str(*tls ? "https://" : "http://", (*server)->address());
  (*platform)->listening((*server)->address());
  if (options.demo) {
    if (const Status shown =
            show_demo(**platform, url, directory, [&](const std::string& line) { print_line(for_people, line); });
        !shown)
      return fail(shown.error().message);
  }
  if (options.json) {
    fmt::print("{{\"listening\":\"{}\",\"pid\":{}}}\n", (*server)->address(), ::getpid());
    std::fflush(stdout);
  } else {
    print_tables(*(*platform)->settled_snapshot(), url, exports(directory, url, apart));
  }
  (*log)->say(
      {.component = "server",
       .text = str("sluice ", SLUICE_VERSION, " listens on ", url, ", data in ", directory, ", process ", ::getpid()),
       .quiet = true});
  tell_service_manager(str("READY=1\nSTATUS=listening on ", url, "\n"));
  wait_for_end(signals, **log, tls->get());
  tell_service_manager("STOPPING=1\nSTATUS=draining\n");
  drain(**platform, **server, signals, **log);
  (*server).reset();
  (*log)->say({.component = "server", .text = "stopped", .quiet = true});
  return 0;
}

}  // namespace sluice::cli
