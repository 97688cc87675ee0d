// The program `sluice-worker`: runs one function for the server that started it.
#include <fcntl.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "domain/function.h"
#include "engine/engines.h"
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

int serve_on(int descriptor) {
  belong_to_the_server();
  const Status served = worker::serve(wire::Channel(wire::Descriptor(descriptor)));
  return served ? 0 : complain(served.error().message);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "--version") return std::puts("sluice-worker " SLUICE_VERSION) < 0;
  if (mode == "--engines") {
    for (const Runtime runtime : engine::runtimes()) std::puts(std::string(name_of(runtime)).c_str());
    return 0;
  }
  const auto descriptor = argc == 3 ? parse_int(argv[2]) : std::nullopt;
  // What a function starts must not hold the socket open.
  const bool open = descriptor && ::fcntl(static_cast<int>(*descriptor), F_SETFD, FD_CLOEXEC) == 0;
  if (mode == "--socket" && open) return serve_on(static_cast<int>(*descriptor));
  return complain("usage: sluice-worker --socket FD | --engines | --version; it is started by `sluice`");
}
