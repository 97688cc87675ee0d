// What slices of a GPU do, through a worker and its protocol: throughput with all of them busy, predictability beside
// heavy neighbours, and the same on plain streams and on the whole GPU.
// usage: bench_slices WORKER MODELS [SECONDS [cost]]; with that only what a batch costs besides its computing
#include <algorithm>
#include <thread>

#include "engine/engine.h"
#include "gpu/gpu_worker.h"

using namespace sluice;
using namespace sluice::gpu_test;

namespace {

constexpr std::uint32_t kSlices = 7;

struct Numbers {
  double per_second = 0, wall50 = 0, wall99 = 0, device50 = 0, device99 = 0, cpus = 0;
};

Numbers measured(GpuWorker& worker, std::vector<std::unique_ptr<Caller>>& callers, double seconds,
                 std::size_t of = ~std::size_t{0}) {
  (void)play(worker, callers, 0.3, false);
  const double cpu = worker.cpu_seconds();
  const double took = play(worker, callers, seconds);
  Numbers out{.cpus = (worker.cpu_seconds() - cpu) / took};
  std::vector<double> wall, device;
  for (std::size_t i = 0; i < callers.size(); ++i) {
    Caller& caller = *callers[i];
    out.per_second += static_cast<double>(caller.wall_us.size() * caller.rows()) / took;
    if (of != ~std::size_t{0} && i != of) continue;
    wall.insert(wall.end(), caller.wall_us.begin(), caller.wall_us.end());
    device.insert(device.end(), caller.device_us.begin(), caller.device_us.end());
  }
  out.wall50 = percentile(wall, 0.5);
  out.wall99 = percentile(wall, 0.99);
  out.device50 = percentile(device, 0.5);
  out.device99 = percentile(device, 0.99);
  return out;
}

void print(const char* name, std::uint32_t rows, const char* how, const Numbers& n) {
  std::printf("%-20s batch %-3u %-34s %8.0f /s  device %8.3f / %8.3f ms  wall %8.3f / %8.3f ms  CPUs %.1f\n", name,
              rows, how, n.per_second, n.device50 / 1e3, n.device99 / 1e3, n.wall50 / 1e3, n.wall99 / 1e3, n.cpus);
  std::fflush(stdout);
}

std::vector<std::unique_ptr<Caller>> callers_of(GpuWorker& worker, const Network& network, std::uint32_t function,
                                                std::uint32_t rows, std::uint32_t count) {
  std::vector<std::unique_ptr<Caller>> out;
  for (std::uint32_t i = 0; i < count; ++i)
    out.push_back(std::make_unique<Caller>(worker, network, function, rows, std::uint64_t{1} << i, i));
  return out;
}

void throughput(GpuWorker& worker, const Network& network, std::uint32_t function, std::uint32_t rows, const char* how,
                double seconds) {
  auto alone = callers_of(worker, network, function, rows, 1);
  print(network.name.c_str(), rows, str(how, ", one busy").c_str(), measured(worker, alone, seconds));
  auto all = callers_of(worker, network, function, rows, kSlices);
  print(network.name.c_str(), rows, str(how, ", seven busy").c_str(), measured(worker, all, seconds));
}

void neighbours(GpuWorker& worker, const Network& small, const Network& heavy, std::uint32_t function,
                std::uint32_t heavy_rows, const char* how, double seconds) {
  std::vector<std::unique_ptr<Caller>> callers;
  callers.push_back(std::make_unique<Caller>(worker, small, 0, 1, 1, 0));
  for (std::uint32_t i = 1; i < kSlices; ++i)
    callers.push_back(std::make_unique<Caller>(worker, heavy, function, heavy_rows, std::uint64_t{1} << i, i));
  print(small.name.c_str(), 1, str(how, ", beside six ", heavy.name).c_str(), measured(worker, callers, seconds, 0));
}

// The small one has one slice and goes first, heavy ones have two each.
void priorities(const std::string& program, const Network& small, const Network& heavy, std::uint32_t heavy_rows,
                double seconds) {
  GpuWorker worker(program, GpuMode::priority, 16);
  for (std::uint32_t i = 0; const Network* network : {&small, &heavy}) {
    if (const auto loaded = worker.load(i++, *network); !loaded.error.empty()) fail(loaded.error);
  }
  std::vector<std::unique_ptr<Caller>> callers;
  callers.push_back(std::make_unique<Caller>(worker, small, 0, 1, 1, 0));
  for (std::uint32_t i = 1; i < kSlices; ++i)
    callers.push_back(std::make_unique<Caller>(worker, heavy, 1, heavy_rows, std::uint64_t{3} << (2 * i), i));
  print(small.name.c_str(), 1, str("first of streams, beside six ", heavy.name).c_str(),
        measured(worker, callers, seconds, 0));
}

void whole(GpuWorker& worker, const Network& network, std::uint32_t function, std::uint32_t rows, double seconds) {
  std::vector<std::unique_ptr<Caller>> one;
  one.push_back(std::make_unique<Caller>(worker, network, function, rows, (1u << kSlices) - 1, 0));
  print(network.name.c_str(), rows, "whole GPU, one graph", measured(worker, one, seconds));
}

// The engine in this process, called by the thread that has the position: what a batch costs without a platform.
class Space : public engine::BatchContext {
 public:
  explicit Space(std::span<std::byte> space) : space_(space) {}
  Result<std::span<std::byte>> take(std::size_t bytes) override { return space_.first(bytes); }
  bool sleep_until(std::int64_t) override { return true; }

 private:
  std::span<std::byte> space_;
};

double bare_us(engine::Engine& engine, data::Arena& arena, const Network& network, std::uint64_t slices,
               double seconds) {
  std::vector<double> wall;
  std::thread lane([&] {
    const auto inputs = *arena.allocate(network.input_bytes()),
               outputs = *arena.allocate(network.output_bytes() + 4096);
    std::memset(inputs.data(), 0, inputs.size());
    Space space(outputs.bytes());
    engine::Batch batch{.positions = {0, slices}};
    batch.inputs.push_back(
        {{{"x", network.type, {1, 3, network.size, network.size}}, inputs.bytes()}, engine::kAllRows});
    const double end = now_us() + seconds * 1e6;
    while (now_us() < end) {
      const double begin = now_us();
      if (const auto ran = engine.run(batch, space); !ran) fail(ran.error().message);
      wall.push_back(now_us() - begin);
    }
  });
  lane.join();
  return percentile(wall, 0.5);
}

void platform_cost(const std::string& program, const Network& network, double seconds) {
  const auto arena = *data::Arena::make(Bytes::mb(64));
  auto all = arena->allocate(arena->capacity() - 4096);
  arena->populate(*all);
  all.reset();
  auto engine = engine::make_engine(Runtime::torch, engine::Device::gpu);
  if (!engine) fail(engine.error().message);
  const engine::Gpu gpu{.slices = kSlices, .pinned = {arena->base(), arena->capacity()}};
  const Function function{.name = network.name, .inputs = {network.input()}, .outputs = {network.output()}};
  if (const Status loaded = (*engine)->load(function, {.runtime = Runtime::torch, .model = network.file}, {.gpu = gpu});
      !loaded)
    fail(loaded.error().message);
  GpuWorker worker(program, GpuMode::green, kSlices);
  if (const auto loaded = worker.load(0, network); !loaded.error.empty()) fail(loaded.error);
  for (const std::uint64_t slices : {0x1ull, 0x7full}) {
    std::vector<std::unique_ptr<Caller>> one;
    one.push_back(std::make_unique<Caller>(worker, network, 0, 1, slices, 0));
    (void)play(worker, one, 0.3, false);
    (void)play(worker, one, seconds);
    const double bare = bare_us(**engine, *arena, network, slices, seconds), through = percentile(one[0]->wall_us, 0.5);
    std::printf(
        "%s batch 1, %s: %.0f us bare with its copies, %.0f through the worker: %.0f more (p90 %.0f, p99 %.0f)\n",
        network.name.c_str(), slices == 1 ? "one slice" : "whole GPU", bare, through, through - bare,
        percentile(one[0]->wall_us, 0.9), percentile(one[0]->wall_us, 0.99));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: bench_slices WORKER MODELS [SECONDS]");
  const std::string folder = argv[2];
  const double seconds = argc > 3 ? std::atof(argv[3]) : 2;
  const Network resnet{.name = "resnet50", .file = folder + "/resnet50.pt"};
  const Network vit{.name = "vit_b_16", .file = folder + "/vit_b_16.pt"};
  const Network deeplab{
      .name = "deeplabv3_resnet50", .file = folder + "/deeplabv3_resnet50.pt", .size = 384, .answer = {21, 384, 384}};
  platform_cost(argv[1], resnet, seconds);
  if (argc > 4) return 0;
  for (const GpuMode mode : {GpuMode::green, GpuMode::stream}) {
    const char* how = mode == GpuMode::green ? "slices" : "streams";
    GpuWorker worker(argv[1], mode, kSlices);
    for (std::uint32_t i = 0; const Network* network : {&resnet, &deeplab, &vit}) {
      const double begin = now_us();
      const auto loaded = worker.load(i++, *network);
      if (!loaded.error.empty()) fail(loaded.error);
      std::printf("%s: loaded in %.0f ms\n", network->name.c_str(), (now_us() - begin) / 1e3);
    }
    for (const std::uint32_t rows : {1u, 8u, 32u}) {
      throughput(worker, resnet, 0, rows, how, seconds);
      if (mode == GpuMode::green) whole(worker, resnet, 0, rows, seconds);
    }
    neighbours(worker, resnet, resnet, 0, 32, how, seconds);
    neighbours(worker, resnet, deeplab, 1, 4, how, seconds);
    for (const std::uint32_t rows : {1u, 4u}) throughput(worker, deeplab, 1, rows, how, seconds);
    for (const std::uint32_t rows : {1u, 8u}) throughput(worker, vit, 2, rows, how, seconds);
  }
  priorities(argv[1], resnet, resnet, 32, seconds);
  priorities(argv[1], resnet, deeplab, 4, seconds);
  return 0;
}
