// A TorchScript module on a GPU: frozen and folded in full precision, where that loses nothing, then converted to the
// form it computes in, with all of its weights in one stretch of device memory.
#pragma once
#include "engine/torch_call.h"
#include "engine/torch_weights.h"

#include <istream>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cuda/shared_gpu.h"
#include "engine/cuda/weight_range.h"

namespace sluice::engine {

// Reads a module for the CPU. Files that were saved frozen stay as they are.
[[nodiscard]] torch::jit::Module read_frozen(std::istream& file);

class TorchCudaModel {
 public:
  // `frozen` stays as it is: a copy is converted. An error if its weights would take more than `most`, before they take
  // any. REQUIRES: the thread has entered the GPU.
  [[nodiscard]] static Result<std::unique_ptr<TorchCudaModel>> make(cuda::SharedGpu& gpu,
                                                                    const torch::jit::Module& frozen,
                                                                    const TorchCall& call, WeightForm form,
                                                                    std::optional<Bytes> most);

  // Inputs are converted on the way, outputs are as declared and contiguous. Inputs have to be on the GPU.
  [[nodiscard]] Status forward(const std::vector<TorchInput>& inputs, std::uint32_t rows,
                               std::vector<TorchOutput>& out);
  // Off the device, or back on it: addresses stay the same.
  void leave() { weights_->evict(); }
  [[nodiscard]] Status come_back();
  [[nodiscard]] bool is_there() const { return weights_->placed(); }
  [[nodiscard]] std::size_t weight_bytes() const { return weights_->reserved(); }
  [[nodiscard]] const WeightForm& form() const { return form_; }
  [[nodiscard]] at::Device device() const { return {at::kCUDA, static_cast<c10::DeviceIndex>(gpu_.number)}; }
  [[nodiscard]] cuda::SharedGpu& gpu() const { return gpu_; }

 private:
  TorchCudaModel(cuda::SharedGpu& gpu, const TorchCall& call, WeightForm form) : gpu_(gpu), call_(call), form_(form) {}

  cuda::SharedGpu& gpu_;
  const TorchCall& call_;
  WeightForm form_;
  torch::jit::Module module_;
  std::unique_ptr<cuda::WeightRange> weights_;
};

}  // namespace sluice::engine
