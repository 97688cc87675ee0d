#include "engine/cuda/weight_range.h"

namespace sluice::engine::cuda {

CUmemAllocationProp WeightRange::kind() const {
  CUmemAllocationProp out{};
  out.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  out.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  out.location.id = device_;
  return out;
}

Result<std::unique_ptr<WeightRange>> WeightRange::make(const Driver& driver, CUdevice device, std::size_t bytes) {
  std::unique_ptr<WeightRange> out(new WeightRange(driver, device, bytes));
  const CUmemAllocationProp kind = out->kind();
  std::size_t step = 0;
  Status done = checked(driver, driver.cuMemGetAllocationGranularity(&step, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                        "cuMemGetAllocationGranularity");
  if (!done) return done.error();
  out->reserved_ = (bytes + step - 1) / step * step;
  if (bytes == 0) return out;
  done = checked(driver, driver.cuMemAddressReserve(&out->address_, out->reserved_, 0, 0, 0), "cuMemAddressReserve");
  void* host = nullptr;
  if (done) done = checked(driver, driver.cuMemHostAlloc(&host, bytes, 0), "pinned memory for weights");
  if (!done) return done.error();
  out->host_ = static_cast<std::byte*>(host);
  return out;
}

Status WeightRange::place(CUstream stream) {
  if (placed_ || bytes_ == 0) {
    placed_ = true;
    return Done{};
  }
  const CUmemAllocationProp kind = this->kind();
  Status done = checked(driver_, driver_.cuMemCreate(&memory_, reserved_, &kind, 0), "device memory for weights");
  if (!done) return done;
  done = checked(driver_, driver_.cuMemMap(address_, reserved_, 0, memory_, 0), "cuMemMap");
  if (!done) {
    (void)driver_.cuMemRelease(memory_);
    return done;
  }
  placed_ = true;
  CUmemAccessDesc access{};
  access.location = kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  done = checked(driver_, driver_.cuMemSetAccess(address_, reserved_, &access, 1), "cuMemSetAccess");
  if (done) done = checked(driver_, driver_.cuMemcpyHtoDAsync(address_, host_, bytes_, stream), "copy of weights");
  if (!done) evict();
  return done;
}

void WeightRange::evict() {
  if (!placed_) return;
  placed_ = false;
  if (bytes_ == 0) return;
  (void)driver_.cuMemUnmap(address_, reserved_);
  (void)driver_.cuMemRelease(memory_);
}

WeightRange::~WeightRange() {
  evict();
  if (address_ != 0) (void)driver_.cuMemAddressFree(address_, reserved_);
  if (host_ != nullptr) (void)driver_.cuMemFreeHost(host_);
}

}  // namespace sluice::engine::cuda
