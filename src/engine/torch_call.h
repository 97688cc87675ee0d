// A call of a TorchScript module under the names that a function declares: inputs by port, outputs by name and of the
// shape and type declared. Used by both torch engines, on whatever device the tensors are.
#pragma once
#include <torch/script.h>

#include "engine/torch_tensor.h"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "domain/function.h"

namespace sluice::engine {

struct TorchOutput {
  std::string name;
  std::int32_t row = kAllRows;
  DataType type = DataType::fp32;
  at::Tensor tensor;
};

class TorchCall {
 public:
  TorchCall() = default;
  TorchCall(std::vector<Port> inputs, std::vector<Port> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  // All rows at once where that can be done, else one after the other.
  [[nodiscard]] Status forward(torch::jit::Module& module, const std::vector<TorchInput>& inputs, std::uint32_t rows,
                               std::vector<TorchOutput>& out) const;
  [[nodiscard]] const std::vector<Port>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Port>& outputs() const { return outputs_; }

 private:
  [[nodiscard]] Status call(torch::jit::Module& module, const std::vector<TorchInput>& inputs, std::int32_t row,
                            std::uint32_t rows, std::vector<TorchOutput>& out) const;
  [[nodiscard]] Status collect(const c10::IValue& returned, std::int32_t row, std::uint32_t rows,
                               std::vector<TorchOutput>& out) const;
  [[nodiscard]] Status choose(std::vector<std::pair<std::string, at::Tensor>> named, std::int32_t row,
                              std::uint32_t rows, std::vector<TorchOutput>& out) const;

  std::vector<Port> inputs_, outputs_;
};

// What libtorch says spreads over many lines: the one that matters is reported, all of them go to the log.
[[nodiscard]] Error torch_error(const std::exception& exception);

// Where outputs are to go, in the order given.
[[nodiscard]] Result<std::vector<BatchTensor>> place_outputs(const std::vector<TorchOutput>& outputs,
                                                             OutputSpace& space);

}  // namespace sluice::engine
