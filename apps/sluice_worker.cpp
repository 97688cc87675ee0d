// The program `sluice-worker`: runs one function for the server that started it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "domain/function.h"
#include "engine/engines.h"
#include "worker/park.h"
#include "worker/serve.h"

using namespace sluice;

namespace {

int complain(std::string_view text) {
  std::fprintf(stderr, "sluice-worker: %.*s\n", static_cast<int>(text.size()), text.data());
  return 1;
}

// A worker never outlives its server: it is killed with it, and if the server was gone before that took hold, the
// socket is closed. Ctrl-C in a terminal reaches workers too, but the server decides when they end.
void belong_to_the_server() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

// Ends without destructors of libraries: libtorch's take most of a second, for what the system takes back anyway.
[[noreturn]] void serve(wire::Channel channel) {
  const Status served = worker::serve(std::move(channel));
  const int status = served ? 0 : complain(served.error().message);
  std::fflush(nullptr);
  ::_exit(status);
}

int park(wire::Channel channel) {
  if (const Status warmed = engine::warm(); !warmed) complain(warmed.error().message);
  auto worker = worker::park(std::move(channel));
  if (worker) serve(std::move(*worker));
  return 0;
}

int print_engines() {
  for (const Runtime runtime : engine::runtimes()) std::puts(std::string(name_of(runtime)).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "--version") return std::puts("sluice-worker " SLUICE_VERSION) < 0;
  if (mode == "--engines") return print_engines();
  const auto number = argc == 3 && (mode == "--socket" || mode == "--park") ? parse_int(argv[2]) : std::nullopt;
  // What a function starts must not hold the socket open.
  if (!number || ::fcntl(static_cast<int>(*number), F_SETFD, FD_CLOEXEC) != 0) {
    return complain("usage: sluice-worker --socket FD | --park FD | --engines | --version; it is started by `sluice`");
  }
  belong_to_the_server();
  wire::Channel channel(wire::Descriptor(static_cast<int>(*number)));
  if (mode == "--socket") serve(std::move(channel));
  return park(std::move(channel));
}
