#include "engine/torch_kept.h"

#include <ATen/Functions.h>

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "domain/limits.h"

namespace sluice::engine {
namespace {

// Whoever reads it waits before the batch is answered, and holds it until then: its memory is never given to another
// stream while something is under way.
class TorchKept : public KeptOutput {
 public:
  TorchKept(cuda::SharedGpu& gpu, KeptBudget::Share share, at::Tensor tensor)
      : gpu_(gpu), share_(std::move(share)), tensor_(std::move(tensor)) {}

  [[nodiscard]] std::uintptr_t address() const override { return reinterpret_cast<std::uintptr_t>(tensor_.data_ptr()); }

  [[nodiscard]] Status copy_to(std::span<std::byte> to) const override {
    const cuda::Driver& driver = gpu_.driver;
    if (const Status entered = gpu_.enter(); !entered) return entered;
    const Status put = checked(driver, driver.cuMemcpyDtoHAsync(to.data(), address(), to.size(), gpu_.fetches),
                               "copy from the device");
    cuda::end_if_broken(gpu_, gpu_.fetches);
    return put;
  }

 private:
  cuda::SharedGpu& gpu_;
  KeptBudget::Share share_;
  at::Tensor tensor_;
};

// Undefined: there is no room.
at::Tensor space_for(std::size_t bytes, const TorchLane& lane) {
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(lane.gpu.number));
  const std::shared_lock others(lane.gpu.quiet);
  try {
    return at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).device(device));
  } catch (const c10::OutOfMemoryError&) {
    return {};
  }
}

}  // namespace

Result<std::shared_ptr<const KeptOutput>> kept_copy(const at::Tensor& from, std::size_t bytes, const TorchLane& lane) {
  std::shared_ptr<const KeptOutput> none;
  if (bytes <= limits::kept_bytes_min) return none;
  auto share = lane.gpu.kept->take(bytes);
  if (!share) return none;
  at::Tensor space = space_for(bytes, lane);
  if (!space.defined()) return none;
  const auto address = [](const at::Tensor& tensor) { return reinterpret_cast<CUdeviceptr>(tensor.data_ptr()); };
  if (const Status put = lane.lane.copy_on_device(address(space), address(from), bytes); !put) return put.error();
  return std::shared_ptr<const KeptOutput>(
      std::make_shared<const TorchKept>(lane.gpu, std::move(*share), std::move(space)));
}

}  // namespace sluice::engine
