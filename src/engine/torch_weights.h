// The weights of a frozen module: tensors that its graph holds as constants. They are converted to a precision and a
// memory format, packed into one stretch of memory, and pointed at wherever that stretch is.
#pragma once
#include <torch/script.h>

#include "engine/torch_tensor.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sluice::engine {

struct WeightForm {
  at::ScalarType precision = at::kFloat;
  bool channels_last = false;
};

class TorchWeights {
 public:
  // Finds the weights of `module` and how they are packed; nothing is changed yet. Devices that are written down in the
  // graph become `device`. REQUIRES: the module is frozen and on the CPU.
  TorchWeights(torch::jit::Module& module, WeightForm form, at::Device device);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Writes them one after the other. REQUIRES: `to` has that many bytes.
  void pack(std::span<std::byte> to) const;
  // From now on the module uses what is at `address` of the device.
  void point_to(void* address);

 private:
  struct Weight {
    torch::jit::Node* constant = nullptr;
    at::Tensor tensor;  // converted, on the CPU
    std::size_t offset = 0;
  };
  void find(torch::jit::Block* block);

  WeightForm form_;
  at::Device device_;
  std::vector<Weight> weights_;
  std::size_t bytes_ = 0;
};

// An input in the form that the module wants.
[[nodiscard]] at::Tensor in_form(const at::Tensor& input, const WeightForm& form);

}  // namespace sluice::engine
