// Tensors between shared memory and libtorch. Included before all of our own: libtorch brings a CHECK of its own along,
// which is taken back here.
#pragma once
#include <ATen/core/Tensor.h>
#undef CHECK

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "data/tensor.h"
#include "engine/engine.h"

namespace sluice::engine {

// Nothing: libtorch has no such type.
[[nodiscard]] std::optional<at::ScalarType> scalar_type(DataType type);
[[nodiscard]] std::optional<DataType> data_type(at::ScalarType type);

[[nodiscard]] inline at::IntArrayRef dimensions(const data::Shape& shape) {
  return {shape.data(), shape.size()};
}

// A view where the memory is aligned, else a copy; of what is kept a view on its device. REQUIRES: the bytes are what
// type and shape ask for.
[[nodiscard]] Result<at::Tensor> to_torch(const BatchTensor& brought);

// One input of a batch, under its name.
struct TorchInput {
  std::string name;
  at::Tensor stacked;                                    // undefined: rows are apart
  std::vector<at::Tensor> rows;                          // of every row; undefined where it has none
  [[nodiscard]] at::Tensor row(std::int64_t row) const;  // as a batch of one; undefined if it has none
};

// In the order in which they came. Rows that came apart but are alike, and on one device, are stacked.
[[nodiscard]] Result<std::vector<TorchInput>> torch_inputs(const Batch& batch);

}  // namespace sluice::engine
