// The program `sluice-worker`: runs one function for the server that started it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "domain/function.h"
#ifdef SLUICE_CUDA
#include "engine/cuda/devices.h"
#endif
#include "engine/engines.h"
#include "wire/confinement.h"
#include "worker/confine.h"
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

// The first message says what to give up, and may bring the model along, which gets its number and stays open over
// exec.
Status confine(wire::Channel& channel) {
  std::string message;
  std::vector<wire::Descriptor> descriptors;
  if (channel.receive(message, &descriptors) != wire::Received::message) {
    return Error{ErrorCode::unavailable, "the server is gone"};
  }
  const auto confinement = wire::decode_confinement(message);
  if (!confinement) return confinement.error();
  if (descriptors.size() != (confinement->model ? 1u : 0u)) return Error{ErrorCode::invalid, "no model came along"};
  if (confinement->model && descriptors.front().get() == wire::kModelDescriptor) {
    (void)::fcntl(descriptors.front().release(), F_SETFD, 0);
  } else if (confinement->model && ::dup2(descriptors.front().get(), wire::kModelDescriptor) < 0) {
    return Error{ErrorCode::unavailable, "the model cannot be kept open"};
  }
  return worker::confine(*confinement, static_cast<pid_t>(confinement->server));
}

// `sluice-worker --confined FD PROGRAM…`: becomes the program, which finds its socket as a worker does.
int become(int socket, char** program) {
  (void)::fcntl(socket, F_SETFD, 0);
  const std::string number = std::to_string(socket);
  std::string option = "--socket", last = number;
  std::vector<char*> arguments;
  for (; *program != nullptr; ++program) arguments.push_back(*program);
  for (char* argument : {option.data(), last.data(), static_cast<char*>(nullptr)}) arguments.push_back(argument);
  ::execvp(arguments.front(), arguments.data());
  return complain(str("'", arguments.front(), "' cannot be started: ", std::strerror(errno)));
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

// UUID, SMs, bytes and name of each; none where this program was built without CUDA's headers.
int print_gpus() {
#ifdef SLUICE_CUDA
  const auto devices = engine::cuda::devices();
  if (!devices) return complain(devices.error().message);
  for (const engine::cuda::Device& device : *devices) {
    std::printf("%s\t%d\t%llu\t%s\n", device.uuid.c_str(), device.multiprocessors,
                static_cast<unsigned long long>(device.memory), device.name.c_str());
  }
#endif
  return 0;
}

}  // namespace

// Nothing here throws but for want of memory, and that may end a worker.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "--version") return std::puts("sluice-worker " SLUICE_VERSION) < 0;
  if (mode == "--engines") return print_engines();
  if (mode == "--gpus") return print_gpus();
  const bool confined = mode == "--confined" && argc >= 3;
  const bool alone = argc == 3 && (mode == "--socket" || mode == "--park");
  const auto number = confined || alone ? parse_int(argv[2]) : std::nullopt;
  // What a function starts must not hold the socket open.
  if (!number || ::fcntl(static_cast<int>(*number), F_SETFD, FD_CLOEXEC) != 0) {
    return complain(
        "usage: sluice-worker --socket FD | --confined FD [PROGRAM…] | --park FD | --engines | --gpus | --version; it "
        "is started by `sluice`");
  }
  belong_to_the_server();
  wire::Channel channel(wire::Descriptor(static_cast<int>(*number)));
  if (confined) {
    if (const Status done = confine(channel); !done) return complain(done.error().message);
    if (argc > 3) return become(static_cast<int>(*number), argv + 3);
  }
  if (mode != "--park") serve(std::move(channel));
  return park(std::move(channel));
}
