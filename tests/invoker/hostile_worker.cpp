// A worker that does not keep to the protocol, for tests of the invoker. What it does wrong is the name of the function
// it is told to load; one whose name it does not know it serves as a good worker would, with outputs of no bytes.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "wire/channel.h"
#include "wire/messages.h"
#include "wire/process.h"
#include "worker/confine.h"

namespace sluice {
namespace {

constexpr std::int64_t kMuch = 40'000'000;
constexpr int kHeldMaxMs = 20'000;

struct Arena {
  wire::Descriptor descriptor;
  std::uint64_t bytes = 0;
};

void tell(wire::Channel& channel, const wire::FromWorker& message) {
  std::string bytes;
  if (!wire::encode(message, bytes) || !channel.send(bytes)) ::_exit(1);
}

[[noreturn]] void stay() {
  for (;;) ::pause();
}

// Killed, it stays until whoever traces it has ended, and that is not before the file HELD is gone.
void be_held() {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t self = ::getpid();
  int ready[2];
  if (::pipe(ready) != 0) ::_exit(1);
  if (::fork() == 0) {
    ::setsid();  // not ended with the worker
    const char held = ::ptrace(PTRACE_SEIZE, self, nullptr, nullptr) == 0 ? 'y' : 'n';
    (void)!::write(ready[1], &held, 1);
    if (held != 'y') ::_exit(1);
    for (int ms = 0; ms < kHeldMaxMs && ::access(std::getenv("HELD"), F_OK) == 0; ++ms) ::usleep(1'000);
    ::_exit(0);
  }
  char held = 'n';
  (void)!::read(ready[0], &held, 1);
  ::close(ready[0]);
  ::close(ready[1]);
  if (held != 'y') ::_exit(1);
}

void print(const std::string& text) {
  (void)!::write(STDOUT_FILENO, text.data(), text.size());
}

wire::Placed output(std::uint64_t offset, std::uint64_t size, std::vector<std::int64_t> shape) {
  return {.info = {"y", DataType::uint8, std::move(shape)}, .offset = offset, .size = size};
}

void on_load(wire::Channel& channel, const std::string& manner) {
  if (manner == "silent at load") stay();
  if (manner == "ends at load") {
    print("the library is not there\n");
    ::_exit(3);
  }
  if (manner == "fails to load") return tell(channel, wire::Loaded{.error = "the model is not there"});
  if (manner == "loads twice") tell(channel, wire::Loaded{});
  if (manner == "answers before it is asked") {
    tell(channel, wire::Loaded{});
    return tell(channel, wire::Ran{.batch = ~std::uint64_t{0}});
  }
  if (manner == "closes its output") {
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
  }
  if (manner.starts_with("dies slowly") && std::getenv("HELD") != nullptr) be_held();
  tell(channel, wire::Loaded{});
  if (manner == "never reads") stay();
}

// Memory that is not its own, in every way.
wire::Placed stolen(const wire::Run& run, const std::string& manner) {
  const wire::Space& own = run.outputs;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::int64_t rows = run.rows;
  if (manner == "claims the memory before") return output(own.offset - 64, 64, {rows, 64 / rows});
  if (manner == "claims the memory behind") return output(own.offset + own.size, 64, {rows, 64 / rows});
  if (manner == "claims more than there is") return output(own.offset, most, {rows, 1});
  if (manner == "claims an offset that wraps") return output(most - 8, 64, {rows, 64 / rows});
  if (manner == "claims another shape") return output(own.offset, 64, {rows, 1 << 20});
  return output(own.offset, static_cast<std::uint64_t>(rows) + 1, {rows + 1, 1});  // "claims other rows"
}

char* map(const Arena& arena) {
  return static_cast<char*>(
      ::mmap(nullptr, arena.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena.descriptor.get(), 0));
}

// Texts of one letter whose lengths a process of its own goes on changing after the answer.
void change_lengths(wire::Channel& channel, const wire::Run& run, const Arena& arena) {
  constexpr std::uint32_t kTexts = 64, kEach = sizeof(std::uint32_t) + 1;
  constexpr std::uint32_t kLengths[] = {1, 0xffff'ffff, 0, 0x7fff'ffff, 250};
  char* memory = map(arena) + run.outputs.offset;
  const std::uint32_t count = kTexts * run.rows;
  const auto write = [&](std::uint32_t text, std::uint32_t length) {
    std::memcpy(memory + std::size_t{text} * kEach, &length, sizeof length);
  };
  for (std::uint32_t i = 0; i < count; ++i) write(i, 1);
  if (::fork() == 0) {
    for (std::uint32_t turn = 0;; ++turn) {
      for (std::uint32_t i = 0; i < count; ++i) write(i, kLengths[(turn + i) % std::size(kLengths)]);
    }
  }
  wire::Placed texts{.info = {"y", DataType::bytes, {run.rows, kTexts}}, .offset = run.outputs.offset};
  texts.size = std::uint64_t{count} * kEach;
  tell(channel, wire::Ran{.batch = run.batch, .outputs = {texts}});
}

// The server would die of the next look at a page that is gone.
void cut_the_arena(const Arena& arena) {
  const bool cut = ::ftruncate(arena.descriptor.get(), 0) == 0;
  const bool grown = ::ftruncate(arena.descriptor.get(), static_cast<off_t>(arena.bytes) * 2) == 0;
  print(cut || grown ? "cut\n" : "sealed\n");
}

void on_run(wire::Channel& channel, const wire::Run& run, const std::string& manner, const Arena& arena) {
  if (manner == "ends") {
    print("this is the end");  // and no end of the line
    ::_exit(3);
  }
  if (manner.ends_with("hangs")) stay();
  if (manner == "speaks garbage") {
    if (!channel.send("\xff\xfe garbage \x01\x02\x03")) ::_exit(1);
    stay();
  }
  if (manner == "sends too much") {
    (void)channel.send(std::string(wire::message_bytes_max + 1, 'x'));
    stay();
  }
  if (manner == "answers another batch") return tell(channel, wire::Ran{.batch = run.batch + 1});
  if (manner == "wants space for another batch") return tell(channel, wire::Wanted{.batch = run.batch + 1, .bytes = 1});
  if (manner == "wants everything") {
    tell(channel, wire::Wanted{.batch = run.batch, .bytes = std::numeric_limits<std::uint64_t>::max()});
    std::string grant;
    (void)channel.receive(grant);
    return tell(channel, wire::Ran{.batch = run.batch, .error = "NoSpace"});
  }
  if (manner == "writes 40 MB") {
    tell(channel, wire::Wanted{.batch = run.batch, .bytes = kMuch});
    std::string bytes;
    (void)channel.receive(bytes);
    const auto grant = wire::decode_to_worker(bytes);
    const std::uint64_t offset = std::get<wire::Grant>(*grant).outputs.offset;
    std::memset(map(arena) + offset, 'x', kMuch);
    return tell(channel, wire::Ran{.batch = run.batch, .outputs = {output(offset, kMuch, {1, kMuch})}});
  }
  if (manner == "changes lengths") return change_lengths(channel, run, arena);
  if (manner == "cuts the arena") cut_the_arena(arena);
  if (manner == "floods its log") {
    const std::string lines(1 << 15, '\n');
    for (;;) print(lines);
  }
  if (manner.starts_with("claims"))
    return tell(channel, wire::Ran{.batch = run.batch, .outputs = {stolen(run, manner)}});
  if (manner == "says it kept it") {
    wire::Placed kept = output(run.outputs.offset, 0, {run.rows, 0});
    kept.device = 0;
    return tell(channel, wire::Ran{.batch = run.batch, .outputs = {kept}});
  }
  if (manner == "says it fetched it") return tell(channel, wire::Fetched{.offset = run.outputs.offset});
  wire::Ran ran{.batch = run.batch, .outputs = {output(run.outputs.offset, 0, {run.rows, 0})}};
  if (manner == "says it took for ever") ran.took = Duration::max();
  if (manner == "answers for too many rows") ran.row_errors.resize(run.rows + 1);
  tell(channel, ran);
}

int serve(int socket) {
  wire::Channel channel{wire::Descriptor(socket)};
  std::string message, manner;
  Arena arena;
  for (;;) {
    std::vector<wire::Descriptor> descriptors;
    if (channel.receive(message, &descriptors) != wire::Received::message) return 0;
    const auto decoded = wire::decode_to_worker(message);
    if (!decoded) return 1;
    if (const auto* hello = std::get_if<wire::Hello>(&*decoded)) {
      arena = {std::move(descriptors.at(0)), hello->arena_bytes};
    }
    if (const auto* load = std::get_if<wire::Load>(&*decoded)) on_load(channel, manner = load->name);
    if (const auto* run = std::get_if<wire::Run>(&*decoded)) on_run(channel, *run, manner, arena);
  }
}

// A parked parent whose workers are called by the number of a stranger. They end with it.
int park(int socket) {
  wire::Channel channel{wire::Descriptor(socket)};
  for (std::string message;;) {
    std::vector<wire::Descriptor> descriptors;
    if (channel.receive(message, &descriptors) != wire::Received::message) return 0;
    const pid_t worker = ::fork();
    if (worker == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      stay();
    }
    const wire::Descriptor handle = wire::handle_of(worker);
    const std::int64_t number = std::atoll(std::getenv("STRANGER"));
    const std::string_view bytes(reinterpret_cast<const char*>(&number), sizeof number);
    if (!channel.send(bytes, {handle.get()})) return 1;
  }
}

}  // namespace
}  // namespace sluice

// --confined N: as a real worker is; --park N: as the parent of torch workers.
int main(int, char** arguments) {
  const int socket = std::atoi(arguments[2]);
  if (std::string_view(arguments[1]) == "--park") return sluice::park(socket);
  std::string message;
  {
    sluice::wire::Channel channel{sluice::wire::Descriptor(socket)};
    if (channel.receive(message) != sluice::wire::Received::message) return 1;
    (void)channel.take().release();
  }
  const auto confinement = sluice::wire::decode_confinement(message);
  if (!confinement || !sluice::worker::confine(*confinement, ::getppid())) return 1;
  return sluice::serve(socket);
}
