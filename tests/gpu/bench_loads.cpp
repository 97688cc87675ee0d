// How long a function takes to be there: its process, its load, its first answer, its graph, and back after an
// eviction. And whether memory is what it was after many of them. usage: bench_loads WORKER MODELS
#include "gpu/gpu_worker.h"

using namespace sluice;
using namespace sluice::gpu_test;

namespace {

// Of the whole GPU, as the system sees it.
double used_mb() {
  std::FILE* pipe = ::popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits", "r");
  double used = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &used) != 1) fail("nvidia-smi does not tell how much memory is used");
  ::pclose(pipe);
  return used;
}

void print(const char* what, double ms) {
  std::printf("%-62s %10.2f ms\n", what, ms);
  std::fflush(stdout);
}

double timed_ms(const auto& work) {
  const double begin = now_us();
  work();
  return (now_us() - begin) / 1e3;
}

void one_function(const std::string& program, const Network& network) {
  std::optional<GpuWorker> worker;
  std::vector<double> again, before;
  const double begin = now_us();
  worker.emplace(program, GpuMode::green, 7);
  const auto first = worker->load(0, network);
  if (!first.error.empty()) fail(first.error);
  print("process, driver and libraries, and the first load, measured", (now_us() - begin) / 1e3);
  print("a second load, its form measured", timed_ms([&] { (void)worker->load(1, network); }));
  print("a load in the form that was found before", timed_ms([&] { (void)worker->load(2, network, first.form); }));
  Caller caller(*worker, network, 2, 1, 1, 1);
  print("its first answer, kernel by kernel", timed_ms([&] { caller.call_and_wait(); }));
  print("its second one, recorded", timed_ms([&] { caller.call_and_wait(); }));
  for (int i = 0; i < 50; ++i) before.push_back(timed_ms([&] { caller.call_and_wait(); }));
  print("later ones", percentile(before, 0.5));
  Caller larger(*worker, network, 2, 1, 0xf, 2);
  larger.call_and_wait();
  larger.call_and_wait();
  print("then with four slices instead of one, no restart", timed_ms([&] { larger.call_and_wait(); }));
  for (int i = 0; i < 30; ++i) {
    if (const auto moved = worker->move(2, Level::host); !moved.error.empty()) fail(moved.error);
    again.push_back(timed_ms([&] {
      if (const auto moved = worker->move(2, Level::device); !moved.error.empty()) fail(moved.error);
      caller.call_and_wait();
    }));
  }
  std::printf("%-62s %10.2f ms, %.2f more than it takes (weights: %.0f MB)\n", "back from an eviction, and its answer",
              percentile(again, 0.5), percentile(again, 0.5) - percentile(before, 0.5),
              static_cast<double>(first.device_memory.count()) / 1e6);
}

// Functions of two networks in turn, each with inputs of its own: what comes back has to be its own answer.
void many(const std::string& program, const Network& one, const Network& other, int times) {
  constexpr std::uint32_t kFunctions = 10, kResident = 4;
  GpuWorker worker(program, GpuMode::green, 7);
  const GpuForm form{Precision::fp16, MemoryLayout::channels_last};
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::vector<float>> right;
  for (std::uint32_t f = 0; f < kFunctions; ++f) {
    const Network& network = f % 2 == 0 ? one : other;
    if (const auto loaded = worker.load(f, network, form); !loaded.error.empty()) fail(loaded.error);
    callers.push_back(std::make_unique<Caller>(worker, network, f, 1, std::uint64_t{1} << (f % 7), f));
    auto* pixels = reinterpret_cast<float*>(callers[f]->inputs().data());
    for (std::size_t i = 0; i < callers[f]->inputs().size() / sizeof(float); ++i)
      pixels[i] = static_cast<float>((i * (f + 3)) % 251) / 251.0f;
    callers[f]->call_and_wait();
    callers[f]->call_and_wait();
    right.push_back(callers[f]->answer());
    for (std::uint32_t before = 0; before < f; ++before) {
      if (right[before] == right[f]) fail("two functions have the same answer: the check would see nothing");
    }
    if (f >= kResident) (void)worker.move(f, Level::host);
  }
  const double begin = used_mb();
  for (int i = 0; i < times; ++i) {
    const auto at = static_cast<std::uint32_t>(i);
    const std::uint32_t in = (at + kResident) % kFunctions, out = at % kFunctions;
    if (const auto moved = worker.move(out, Level::host); !moved.error.empty()) fail(moved.error);
    if (const auto moved = worker.move(in, Level::device); !moved.error.empty()) fail(moved.error);
    callers[in]->call_and_wait();
    if (callers[in]->answer() != right[in]) fail("an answer is another one after an eviction");
  }
  std::printf("%d evictions and back, %u functions, %u at a time: %.0f MB used before, %.0f after\n", times, kFunctions,
              kResident, begin, used_mb());
  const double loaded = used_mb();
  for (int i = 0; i < 20; ++i) {
    worker.unload(0);
    if (const auto again = worker.load(0, one, form); !again.error.empty()) fail(again.error);
    Caller caller(worker, one, 0, 1, 1, 0);
    caller.call_and_wait();
    caller.call_and_wait();
  }
  std::printf("20 loads and unloads of one: %.0f MB used before, %.0f after\n", loaded, used_mb());
  for (std::uint32_t f = 0; f < kFunctions; ++f) worker.unload(f);
  std::printf("all unloaded: %.0f MB\n", used_mb());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: bench_loads WORKER MODELS");
  const std::string folder = argv[2];
  const Network resnet{.name = "resnet50", .file = folder + "/resnet50.pt"},
      vit{.name = "vit_b_16", .file = folder + "/vit_b_16.pt"};
  for (const Network* network : {&resnet, &vit}) {
    std::printf("%s\n", network->name.c_str());
    one_function(argv[1], *network);
  }
  const Network other{.name = "resnet50_other", .file = folder + "/resnet50_other.pt"};
  many(argv[1], resnet, other, 500);
  return 0;
}
