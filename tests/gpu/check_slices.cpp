// What engine/cuda promises, without libtorch, so that compute-sanitizer can look at all of it: slices have SMs of
// their own, disjoint ones compute and copy at the same time, weights come back where they were, priorities are as they
// should be, NVML is spoken to as its header says. usage: check_slices [short]
#include <cuda.h>
#include <dlfcn.h>
#if __has_include(<nvml.h>)
#include <nvml.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/cuda/lane.h"
#include "engine/cuda/mig.h"
#include "engine/cuda/slices.h"
#include "engine/cuda/weight_range.h"

using namespace sluice;
using namespace sluice::engine::cuda;

#if __has_include(<nvml.h>)
static_assert(sizeof(NvmlAttributes) == sizeof(nvmlDeviceAttributes_t));
static_assert(offsetof(NvmlAttributes, memory_mb) == offsetof(nvmlDeviceAttributes_t, memorySizeMB));
static_assert(offsetof(NvmlAttributes, multiprocessors) == offsetof(nvmlDeviceAttributes_t, multiprocessorCount));
#endif

namespace {

constexpr std::uint32_t kSlices = 8;
constexpr unsigned kBlocks = 264, kThreads = 1024;  // two blocks for each of 132 SMs
constexpr std::size_t kCopied = 1u << 20;

// Every block says on which SM it is, and stays there for a while.
constexpr const char* kSpin = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 out, .param .u64 ns)
{
  .reg .u64 %rd<8>;
  .reg .u32 %r<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [ns];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %smid;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd1, %rd3;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
  st.global.u32 [%rd4], %r1;
WAIT:
  mov.u64 %rd5, %globaltimer;
LOOP:
  mov.u64 %rd6, %globaltimer;
  sub.u64 %rd7, %rd6, %rd5;
  setp.lt.u64 %p1, %rd7, %rd2;
  @%p1 bra LOOP;
  ret;
}
)ptx";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}
void must(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) fail(std::string(what) + ": error " + std::to_string(result));
}
template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().message);
  return std::move(*result);
}
void must(const Status& status) {
  if (!status) fail(status.error().message);
}

// What the engine itself does not need.
template <class Function>
Function of_driver(const char* name) {
  static void* library = ::dlopen("libcuda.so.1", RTLD_LAZY);
  auto found = reinterpret_cast<Function>(::dlsym(library, name));
  if (found == nullptr) fail(std::string(name) + " is not there");
  return found;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One position, used by the thread that made it.
class Spinner {
 public:
  Spinner(Slices& slices, std::uint64_t position) : lane_(*must(Lane::of_this_thread(slices, position))) {
    CUmodule module = nullptr;
    must(of_driver<decltype(&cuModuleLoadData)>("cuModuleLoadData")(&module, kSpin), "cuModuleLoadData");
    must(of_driver<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&kernel_, module, "spin"), "spin");
    const auto allocate = of_driver<CUresult (*)(CUdeviceptr*, std::size_t)>("cuMemAlloc_v2");
    must(allocate(&seen_, kBlocks * sizeof(unsigned)), "memory");
    must(allocate(&space_, kCopied), "memory");
    void* host = nullptr;
    must((*must(driver())).cuMemHostAlloc(&host, kCopied, 0), "pinned memory");
    host_ = static_cast<char*>(host);
  }
  ~Spinner() {
    const auto release = of_driver<CUresult (*)(CUdeviceptr)>("cuMemFree_v2");
    (void)release(seen_);
    (void)release(space_);
    (void)(*must(driver())).cuMemFreeHost(host_);
  }
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  // As a batch: copies in, computes for that long, copies out.
  void spin(unsigned blocks, std::uint64_t ns) {
    must(lane_.copy_in(space_, host_, kCopied));
    must(lane_.begin());
    std::array<void*, 2> arguments = {&seen_, &ns};
    must(of_driver<decltype(&cuLaunchKernel)>("cuLaunchKernel")(kernel_, blocks, 1, 1, kThreads, 1, 1, 0,
                                                                lane_.stream(), arguments.data(), nullptr),
         "cuLaunchKernel");
    must(lane_.end());
    must(lane_.copy_out(host_, space_, kCopied));
    must(lane_.wait());
  }
  std::set<unsigned> sms() {
    spin(kBlocks, 200'000);
    std::vector<unsigned> out(kBlocks);
    must(lane_.copy_out(out.data(), seen_, out.size() * sizeof(unsigned)));
    must(lane_.wait());
    return {out.begin(), out.end()};
  }

 private:
  Lane& lane_;
  CUfunction kernel_ = nullptr;
  CUdeviceptr seen_ = 0, space_ = 0;
  char* host_ = nullptr;
};

std::set<unsigned> sms_of(Slices& slices, std::uint64_t position) {
  std::set<unsigned> out;
  std::thread([&] { out = Spinner(slices, position).sms(); }).join();
  return out;
}

void check_sms(Slices& slices) {
  std::vector<std::set<unsigned>> single;
  std::set<unsigned> all;
  for (std::uint32_t i = 0; i < kSlices; ++i) {
    single.push_back(sms_of(slices, std::uint64_t{1} << i));
    for (const unsigned sm : single.back()) {
      if (!all.insert(sm).second) fail("two slices have an SM in common");
    }
  }
  for (const std::uint64_t position : {0x3ull, 0xf0ull, 0xc0ull}) {
    std::set<unsigned> expected;
    for (std::uint32_t i = 0; i < kSlices; ++i) {
      if ((position >> i & 1) != 0) expected.insert(single[i].begin(), single[i].end());
    }
    if (sms_of(slices, position) != expected) fail("a position has other SMs than its slices");
  }
  const std::size_t whole = sms_of(slices, 0xff).size();
  std::printf("slices of %zu SMs each, %zu in all of %zu, none of two; positions have those of their slices\n",
              single[0].size(), all.size(), whole);
  if (whole <= all.size() - 1) fail("the whole GPU has fewer SMs than its slices");
}

// Every position of a buddy layout has its context and streams by now: there are more than the eight connections that a
// process has by default.
void check_together(Slices& slices, std::uint64_t ns, int times) {
  double alone = 0, together = 0;
  std::thread([&] {
    Spinner one(slices, 1);
    alone = seconds_of([&] {
      for (int i = 0; i < times; ++i) one.spin(16, ns);
    });
  }).join();
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> ready = 0, done = 0;
  std::atomic<bool> go = false;
  for (std::uint32_t i = 0; i < kSlices; ++i) {
    threads.emplace_back([&, i] {
      Spinner own(slices, std::uint64_t{1} << i);
      own.spin(16, ns);
      ++ready;
      while (!go) {
      }
      for (int k = 0; k < times; ++k) own.spin(16, ns);
      ++done;
      while (done < kSlices) {
      }
    });
  }
  while (ready < kSlices) {
  }
  together = seconds_of([&] {
    go = true;
    while (done < kSlices) {
    }
  });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d batches with copies: %.2f ms each on one slice, %.2f on all %u at once\n", times, alone / times * 1e3,
              together / times * 1e3, kSlices);
  if (together > alone * 1.5) fail("disjoint slices wait for each other");
}

void check_weights(Slices& slices, std::size_t bytes, int times) {
  const Driver& d = *must(driver());
  must(d.cuCtxSetCurrent(slices.primary()), "cuCtxSetCurrent");
  const auto free_memory = [&] {
    std::size_t free = 0, total = 0;
    must(of_driver<CUresult (*)(std::size_t*, std::size_t*)>("cuMemGetInfo_v2")(&free, &total), "cuMemGetInfo");
    return free;
  };
  const CUstream stream = must(slices.for_loads())->stream;
  CUdevice device = 0;
  must(d.cuDeviceGet(&device, 0), "cuDeviceGet");
  auto range = must(WeightRange::make(d, device, bytes));
  for (std::size_t i = 0; i < bytes; ++i) range->host()[i] = static_cast<std::byte>(i * 31 >> 3);
  must(range->place(stream));
  must(d.cuStreamSynchronize(stream), "the copy");
  const CUdeviceptr address = range->address();
  range->evict();
  const std::size_t before = free_memory();
  std::vector<std::byte> back(bytes);
  double took = 1e9;
  for (int i = 0; i < times; ++i) {
    took = std::min(took, seconds_of([&] {
                      must(range->place(stream));
                      must(d.cuStreamSynchronize(stream), "the copy");
                    }));
    std::memset(back.data(), 0, back.size());
    must(d.cuMemcpyDtoHAsync(back.data(), range->address(), bytes, stream), "copy back");
    must(d.cuStreamSynchronize(stream), "copy back");
    if (range->address() != address || std::memcmp(back.data(), range->host().data(), bytes) != 0)
      fail("weights came back otherwise than they went");
    range->evict();
  }
  if (free_memory() != before) fail("device memory is not what it was");
  std::printf("%zu MB of weights: %d times away and back, in %.2f ms; memory is what it was\n", bytes >> 20, times,
              took * 1e3);
}

void check_priorities() {
  auto slices = must(Slices::open(0, GpuMode::priority, kSlices));
  std::vector<int> seen;
  for (const std::uint64_t position : {0x1ull, 0x3ull, 0xfull, 0xffull, 0x0ull}) {
    int priority = 0;
    must(
        of_driver<decltype(&cuStreamGetPriority)>("cuStreamGetPriority")(must(slices->at(position))->stream, &priority),
        "cuStreamGetPriority");
    if (!seen.empty() && priority < seen.back()) fail("a batch on more slices goes before one on fewer");
    seen.push_back(priority);
  }
  if (seen.front() == seen.back()) fail("all priorities are the same");
  std::printf("priorities of 1, 2, 4, 8 slices and of loads: %d %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3],
              seen[4]);
}

}  // namespace

int main(int argc, char**) {
  const bool brief = argc > 1;  // a checker makes everything many times slower
  {
    auto slices = must(Slices::open(0, GpuMode::green, kSlices));
    check_sms(*slices);
    if (!brief) check_together(*slices, 2'000'000, 50);
    check_weights(*slices, brief ? 1u << 20 : 100u << 20, brief ? 3 : 100);
  }
  check_priorities();
  std::printf("MIG devices: %zu\n", mig_devices().size());
  std::puts("ok: slices are what they are said to be");
  return 0;
}
