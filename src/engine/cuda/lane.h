// Lane: the thread of one position of a GPU. Its context is current from the first thing it does there, because the
// handles of CUDA's libraries belong to the context in which their thread first used them.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "base/time.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/slices.h"

namespace sluice::engine::cuda {

class Lane {
 public:
  // That of the calling thread, made when it asks first. An error if the thread has another position already.
  [[nodiscard]] static Result<Lane*> of_this_thread(Slices& slices, std::uint64_t position);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  [[nodiscard]] CUstream stream() const { return slice_.stream; }
  [[nodiscard]] Status copy_in(CUdeviceptr to, const void* from, std::size_t bytes);
  [[nodiscard]] Status copy_out(void* to, CUdeviceptr from, std::size_t bytes);
  [[nodiscard]] Status copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) const;
  // Around what is to be measured.
  [[nodiscard]] Status begin();
  [[nodiscard]] Status end();
  // Until everything that was put on the stream is done. Sleeps for most of `expected`, calls `nearly_done`, then looks
  // all the time: waking up takes longer than a small network. How much earlier it wakes up is learned: on some
  // machines a thread wakes up 60 µs late, on others 300.
  [[nodiscard]] Status wait(Duration expected = {}, const std::function<void()>& nearly_done = {});
  // From begin() to end(), as the device has it. REQUIRES: wait() has returned.
  [[nodiscard]] Duration measured() const;

 private:
  Lane(const Driver& driver, const Slice& slice, std::uint64_t position)
      : driver_(driver), slice_(slice), position_(position) {}

  const Driver& driver_;
  const Slice& slice_;
  std::uint64_t position_;
  Duration margin_ = kMarginLeast;  // what this thread was late by when it woke up, in all but one of twenty cases
  static constexpr Duration kMarginLeast = Duration::us(150), kMarginMost = Duration::us(600);
  CUevent begin_ = nullptr, end_ = nullptr, done_ = nullptr;
};

}  // namespace sluice::engine::cuda
