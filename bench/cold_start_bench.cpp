// How long a torch function takes from "start it" to its first answer, by where it comes from: disk, page cache, the
// parked parent. Prints one line of JSON with medians in milliseconds.
//   cold_start_bench WORKER MAKE_MODEL FOLDER [REPETITIONS]
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "data/arena.h"
#include "invoker/spawner.h"
#include "wire/messages.h"

namespace {

using namespace sluice;

constexpr const char* kScript = R"(
def forward(self, x):
  x = torch.relu(torch.conv2d(x, self.filter, self.shift, [1, 1], [1, 1]))
  x = torch.batch_norm(x, self.scale, self.shift, self.mean, self.variance, False, 0.1, 0.00001, False)
  return torch.mean(x, [2, 3])
)";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "cold_start_bench: %s\n", why.c_str());
  std::exit(1);
}

std::string receive(wire::Channel& channel) {
  std::string message;
  pollfd readable{channel.descriptor(), POLLIN, 0};
  if (::poll(&readable, 1, 60'000) != 1 || channel.receive(message) != wire::Received::message) fail("no answer");
  return message;
}

void make_model(const char* program, const std::string& path) {
  auto ends = wire::Channel::pair();
  if (!ends) fail(ends.error().message);
  const int theirs = ends->second.descriptor();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::fcntl(theirs, F_SETFD, 0);
    ::execl(program, program, std::to_string(theirs).c_str(), nullptr);
    ::_exit(127);
  }
  if (!ends->first.send(path + "\n" + kScript)) fail("make_model is gone");
  (void)receive(ends->first);
  { const wire::Channel closed = std::move(ends->first); }
  { const wire::Channel closed = std::move(ends->second); }
  (void)::waitpid(pid, nullptr, 0);
}

// Files that a process has mapped.
std::set<std::string> mapped_by(pid_t pid) {
  std::set<std::string> out;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    if (at != std::string::npos && line.find(".so", at) != std::string::npos) out.insert(line.substr(at));
  }
  return out;
}

// Asks the kernel to forget them; what other processes have mapped stays. The share of bytes that did.
double forget(const std::set<std::string>& files) {
  double resident = 0, total = 0;
  for (const std::string& file : files) {
    const wire::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!descriptor.valid() || ::fstat(descriptor.get(), &info) != 0 || info.st_size == 0) continue;
    (void)::fdatasync(descriptor.get());
    (void)::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_DONTNEED);
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.get(), 0);
    if (map == MAP_FAILED) continue;
    std::vector<unsigned char> pages((size + 4095) / 4096);
    if (::mincore(map, size, pages.data()) == 0) {
      resident += 4096.0 * static_cast<double>(std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; }));
    }
    ::munmap(map, size);
    total += static_cast<double>(size);
  }
  return total > 0 ? resident / total : 0;
}

class Starts {
 public:
  Starts(const std::string& worker, std::string model)
      : fresh_({.worker = worker, .park = false}), parked_({.worker = worker, .park = true}), model_(std::move(model)) {
    auto arena = data::Arena::make(Bytes::mb(4));
    if (!arena) fail(arena.error().message);
    arena_ = std::move(*arena);
  }

  double fresh() { return start(fresh_); }
  double parked() { return start(parked_); }
  [[nodiscard]] const std::set<std::string>& libraries() const { return libraries_; }

 private:
  // Milliseconds until the first batch is answered.
  double start(invoker::Spawner& spawner) {
    const auto began = std::chrono::steady_clock::now();
    auto process = spawner.spawn({.runtime = Runtime::torch}, "default", [](pid_t) {});
    if (!process) fail(process.error().message);
    send(process->channel, wire::Hello{.arena_bytes = arena_->capacity()});
    send(process->channel, wire::Load{.name = "cnn", .body = {.runtime = Runtime::torch, .model = model_}});
    const auto loaded = wire::decode_from_worker(receive(process->channel));
    if (!loaded || !std::get<wire::Loaded>(*loaded).error.empty()) fail(std::get<wire::Loaded>(*loaded).error);
    const auto input = arena_->allocate(3 * 32 * 32 * sizeof(float)), output = arena_->allocate(64 << 10);
    send(process->channel, wire::Run{.batch = 1,
                                     .inputs = {{.info = {"x", DataType::fp32, {1, 3, 32, 32}},
                                                 .row = wire::kAllRows,
                                                 .offset = input->offset(),
                                                 .size = input->size()}},
                                     .outputs = {output->offset(), output->size()}});
    const auto ran = wire::decode_from_worker(receive(process->channel));
    if (!ran || !std::get<wire::Ran>(*ran).error.empty()) fail(std::get<wire::Ran>(*ran).error);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    if (libraries_.empty()) libraries_ = mapped_by(process->pid);
    invoker::end_process(*process);
    return took.count();
  }
  void send(wire::Channel& channel, const wire::ToWorker& message) {
    std::string bytes;
    const bool first = std::holds_alternative<wire::Hello>(message);
    if (!wire::encode(message, bytes)) fail("a message is too large");
    const auto sent = first ? channel.send(bytes, {arena_->descriptor()}) : channel.send(bytes);
    if (!sent) fail(sent.error().message);
  }

  invoker::Spawner fresh_, parked_;
  std::string model_;
  std::shared_ptr<data::Arena> arena_;
  std::set<std::string> libraries_;
};

template <class Once>
double median_of(int repetitions, const Once& once) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(once());
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: cold_start_bench WORKER MAKE_MODEL FOLDER [REPETITIONS]");
  const int repetitions = argc > 4 ? std::max(1, std::atoi(argv[4])) : 20;
  const std::string model = std::string(argv[3]) + "/cnn.pt";
  make_model(argv[2], model);
  Starts starts(argv[1], model);
  (void)starts.fresh();
  double stayed = 0;
  const double disk = median_of(repetitions, [&] {
    std::set<std::string> files = starts.libraries();
    files.insert(model);
    stayed = forget(files);
    return starts.fresh();
  });
  const double cached = median_of(repetitions, [&] { return starts.fresh(); });
  (void)starts.parked();  // the parent loads its libraries once
  const double parked = median_of(repetitions, [&] { return starts.parked(); });
  std::printf(R"({"repetitions":%d,"disk_ms":%.1f,"disk_stayed":%.3f,"page_cache_ms":%.1f,"parked_ms":%.2f})"
              "\n",
              repetitions, disk, stayed, cached, parked);
}
