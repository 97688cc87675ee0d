// WeightRange: the weights of a function in one stretch of device memory whose addresses stay reserved while it is
// evicted, with a copy in pinned memory of the machine. Graphs hold addresses: they are valid again once the weights
// are back, in the time that one copy takes.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "engine/cuda/driver.h"

namespace sluice::engine::cuda {

class WeightRange {
 public:
  // Addresses and the pinned copy, which is to be filled by the caller; nothing on the device yet. REQUIRES: a context
  // of the device is current, here and below.
  [[nodiscard]] static Result<std::unique_ptr<WeightRange>> make(const Driver& driver, CUdevice device,
                                                                 std::size_t bytes);
  ~WeightRange();
  WeightRange(const WeightRange&) = delete;
  WeightRange& operator=(const WeightRange&) = delete;

  [[nodiscard]] std::span<std::byte> host() const { return {host_, bytes_}; }
  [[nodiscard]] CUdeviceptr address() const { return address_; }
  [[nodiscard]] std::size_t reserved() const { return reserved_; }
  [[nodiscard]] bool placed() const { return placed_; }
  // Takes device memory and copies; what is put on `stream` afterwards finds the weights. too_large: there is no room.
  [[nodiscard]] Status place(CUstream stream);
  // Gives the device memory back. REQUIRES: nothing that reads it is under way.
  void evict();

 private:
  WeightRange(const Driver& driver, CUdevice device, std::size_t bytes)
      : driver_(driver), device_(device), bytes_(bytes) {}
  [[nodiscard]] CUmemAllocationProp kind() const;

  const Driver& driver_;
  CUdevice device_;
  std::size_t bytes_, reserved_ = 0;
  std::byte* host_ = nullptr;
  CUdeviceptr address_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  bool placed_ = false;
};

}  // namespace sluice::engine::cuda
