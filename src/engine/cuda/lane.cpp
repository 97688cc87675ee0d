#include "engine/cuda/lane.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "base/text.h"

namespace sluice::engine::cuda {

Result<Lane*> Lane::of_this_thread(Slices& slices, std::uint64_t position) {
  thread_local std::unique_ptr<Lane> lane;  // its events go with the process: threads of positions live as long
  if (lane != nullptr) {
    if (lane->position_ == position) {
      (void)lane->driver_.cuCtxSetCurrent(lane->slice_.context);  // 40 ns, whatever somebody did meanwhile
      return lane.get();
    }
    return Error{ErrorCode::internal, "a thread was used for two positions of a GPU"};
  }
  const auto slice = slices.at(position);
  if (!slice) return slice.error();
  const auto cuda = driver();
  if (!cuda) return cuda.error();
  const Driver& d = **cuda;
  if (const Status current = checked(d, d.cuCtxSetCurrent((*slice)->context), "cuCtxSetCurrent"); !current)
    return current.error();
  std::unique_ptr<Lane> made(new Lane(d, **slice, position));
  Status done = checked(d, d.cuEventCreate(&made->begin_, CU_EVENT_DEFAULT), "cuEventCreate");
  if (done) done = checked(d, d.cuEventCreate(&made->end_, CU_EVENT_DEFAULT), "cuEventCreate");
  if (done) done = checked(d, d.cuEventCreate(&made->done_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  if (!done) return done.error();
  constexpr unsigned long kSlackNs = 1'000;
  (void)::prctl(PR_SET_TIMERSLACK, kSlackNs);  // by default the system wakes a thread 50 µs late, to save power
  lane = std::move(made);
  return lane.get();
}

Status Lane::copy_in(CUdeviceptr to, const void* from, std::size_t bytes) {
  return checked(driver_, driver_.cuMemcpyHtoDAsync(to, from, bytes, slice_.stream), "copy to the device");
}

Status Lane::copy_out(void* to, CUdeviceptr from, std::size_t bytes) {
  return checked(driver_, driver_.cuMemcpyDtoHAsync(to, from, bytes, slice_.stream), "copy from the device");
}

Status Lane::copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) const {
  return checked(driver_, driver_.cuMemcpyDtoDAsync(to, from, bytes, slice_.stream), "copy on the device");
}

Status Lane::begin() {
  return checked(driver_, driver_.cuEventRecord(begin_, slice_.stream), "cuEventRecord");
}

Status Lane::end() {
  return checked(driver_, driver_.cuEventRecord(end_, slice_.stream), "cuEventRecord");
}

Status Lane::wait(Duration expected, const std::function<void()>& nearly_done) {
  constexpr auto kAhead = std::chrono::microseconds(150);  // what another thread takes to wake up, and some more
  constexpr Duration kLater = Duration::us(1);
  if (const Status put = checked(driver_, driver_.cuEventRecord(done_, slice_.stream), "cuEventRecord"); !put)
    return put;
  const auto near = std::chrono::steady_clock::now() + std::chrono::nanoseconds(expected.count_ns()) - kAhead;
  const bool sleeps = expected > margin_ * 2;
  if (sleeps) std::this_thread::sleep_for(std::chrono::nanoseconds((expected - margin_).count_ns()));
  bool told = !nearly_done, looked = false;
  for (;;) {
    const CUresult asked = driver_.cuEventQuery(done_);
    const bool done = asked != CUDA_ERROR_NOT_READY;
    if (sleeps && !looked) margin_ = done ? margin_ + kLater * 19 : margin_ - kLater;
    looked = true;
    margin_ = std::clamp(margin_, kMarginLeast, kMarginMost);
    if (done) return checked(driver_, asked, "the device");
    if (!told && std::chrono::steady_clock::now() >= near) {
      nearly_done();
      told = true;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

Duration Lane::measured() const {
  float ms = 0;
  if (driver_.cuEventElapsedTime(&ms, begin_, end_) != CUDA_SUCCESS) return {};
  return Duration::ms(static_cast<double>(ms));
}

}  // namespace sluice::engine::cuda
