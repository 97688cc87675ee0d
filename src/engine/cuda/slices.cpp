#include "engine/cuda/slices.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.h"

namespace sluice::engine::cuda {
namespace {

std::uint64_t all_of(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

Result<std::unique_ptr<Slices>> Slices::open(int device, GpuMode mode, std::uint32_t count) {
  const auto cuda = driver();
  if (!cuda) return cuda.error();
  const Driver& d = **cuda;
  if (count == 0 || count > 64) return Error{ErrorCode::invalid, str("a GPU has 1 to 64 slices, not ", count)};
  CUdevice handle = 0;
  if (const Status found = checked(d, d.cuDeviceGet(&handle, device), str("GPU ", device)); !found)
    return found.error();
  std::unique_ptr<Slices> out(new Slices(d, handle, mode, count));
  if (const Status kept = checked(d, d.cuDevicePrimaryCtxRetain(&out->primary_, handle), "cuDevicePrimaryCtxRetain");
      !kept)
    return kept.error();
  int sms = 0;
  if (const Status asked =
          checked(d, d.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle), "number of SMs");
      !asked)
    return asked.error();
  out->sms_ = static_cast<std::uint32_t>(sms);
  if (mode == GpuMode::green && count > 1) {
    if (const Status parted = out->part(); !parted) return parted.error();
  }
  return out;
}

// Equal groups, as many SMs in each as the hardware's granularity allows; what is left over is used by whoever has the
// whole GPU.
Status Slices::part() {
  CUdevResource all{};
  if (const Status got = checked(driver_, driver_.cuDeviceGetDevResource(device_, &all, CU_DEV_RESOURCE_TYPE_SM),
                                 "cuDeviceGetDevResource");
      !got)
    return got;
  const std::uint32_t step = std::max(1u, all.sm.smCoscheduledAlignment);
  for (std::uint32_t size = sms_ / count_ / step * step; size >= step; size -= step) {
    unsigned int groups = count_;
    groups_.assign(count_, {});
    CUdevResource rest{};
    const CUresult parted = driver_.cuDevSmResourceSplitByCount(groups_.data(), &groups, &all, &rest, 0, size);
    if (parted == CUDA_SUCCESS && groups == count_) return Done{};
  }
  return Error{ErrorCode::unavailable, str("its ", sms_, " SMs cannot be parted into ", count_, " slices")};
}

Result<const Slice*> Slices::at(std::uint64_t slices) {
  if ((slices & ~all_of(count_)) != 0)
    return Error{ErrorCode::invalid, str("there are slices 0 to ", count_ - 1, " of this GPU")};
  const std::lock_guard lock(mutex_);
  const auto known = slices_.find(slices);
  if (known != slices_.end()) return &known->second;
  const auto slice = made(slices);
  if (!slice) return slice.error();
  return &slices_.emplace(slices, *slice).first->second;
}

Result<Slice> Slices::made(std::uint64_t slices) const {
  return mode_ == GpuMode::green && slices != kForLoads && slices != all_of(count_) ? made_of_groups(slices)
                                                                                    : made_whole(slices);
}

// The more slices a batch has, the longer it may keep others waiting: what has fewer goes first. Loads go last.
int Slices::priority_of(std::uint64_t slices) const {
  if (mode_ != GpuMode::priority) return 0;
  int last = 0, first = 0;
  if (driver_.cuCtxGetStreamPriorityRange(&last, &first) != CUDA_SUCCESS || slices == kForLoads) return last;
  const int steps = static_cast<int>(std::bit_width(static_cast<unsigned>(std::popcount(slices)))) - 1;
  return std::min(first + steps, last);
}

Result<Slice> Slices::made_whole(std::uint64_t slices) const {
  Slice out{.context = primary_};
  if (const Status current = checked(driver_, driver_.cuCtxSetCurrent(primary_), "cuCtxSetCurrent"); !current)
    return current.error();
  if (const Status made =
          checked(driver_, driver_.cuStreamCreateWithPriority(&out.stream, CU_STREAM_NON_BLOCKING, priority_of(slices)),
                  "cuStreamCreate");
      !made)
    return made.error();
  return out;
}

Result<Slice> Slices::made_of_groups(std::uint64_t slices) const {
  std::vector<CUdevResource> groups;
  Slice out;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if ((slices >> i & 1) != 0) groups.push_back(groups_[i]);
  }
  CUdevResourceDesc described = nullptr;
  CUgreenCtx green = nullptr;
  const Driver& d = driver_;
  Status done = checked(d, d.cuDevResourceGenerateDesc(&described, groups.data(), static_cast<unsigned>(groups.size())),
                        "cuDevResourceGenerateDesc");
  if (done)
    done = checked(d, d.cuGreenCtxCreate(&green, described, device_, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
  if (done) done = checked(d, d.cuCtxFromGreenCtx(&out.context, green), "cuCtxFromGreenCtx");
  if (done)
    done =
        checked(d, d.cuGreenCtxStreamCreate(&out.stream, green, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate");
  if (!done) return done.error();
  return out;
}

}  // namespace sluice::engine::cuda
