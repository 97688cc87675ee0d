#include "engine/torch_tensor.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace sluice::engine {
namespace {

constexpr std::pair<DataType, at::ScalarType> kTypes[] = {
    {DataType::boolean, at::kBool}, {DataType::uint8, at::kByte},    {DataType::int8, at::kChar},
    {DataType::int16, at::kShort},  {DataType::int32, at::kInt},     {DataType::int64, at::kLong},
    {DataType::fp16, at::kHalf},    {DataType::bf16, at::kBFloat16}, {DataType::fp32, at::kFloat},
    {DataType::fp64, at::kDouble},
};

void stack_if_alike(TorchInput& input) {
  const bool alike = std::ranges::all_of(input.rows, [&](const at::Tensor& row) {
    return row.defined() && row.sizes() == input.rows.front().sizes() && row.dtype() == input.rows.front().dtype() &&
           row.device() == input.rows.front().device();
  });
  if (alike) input.stacked = at::stack(input.rows);
}

}  // namespace

std::optional<at::ScalarType> scalar_type(DataType type) {
  const auto* found = std::ranges::find(kTypes, type, [](const auto& pair) { return pair.first; });
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->second);
}

std::optional<DataType> data_type(at::ScalarType type) {
  const auto* found = std::ranges::find(kTypes, type, [](const auto& pair) { return pair.second; });
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->first);
}

Result<at::Tensor> to_torch(const BatchTensor& brought) {
  const data::TensorView& tensor = brought.tensor;
  const auto type = scalar_type(tensor.info.type);
  if (!type) {
    return Error{ErrorCode::invalid, str("input `", tensor.info.name, "` is of type ", name_of(tensor.info.type),
                                         ", which torch does not have")};
  }
  if (brought.kept != nullptr) {
    return at::from_blob(reinterpret_cast<void*>(brought.kept->address() + brought.within),
                         dimensions(tensor.info.shape), at::TensorOptions(*type).device(at::kCUDA));
  }
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % data::element_size(tensor.info.type) == 0;
  if (aligned && !tensor.bytes.empty()) return at::from_blob(tensor.bytes.data(), dimensions(tensor.info.shape), *type);
  at::Tensor copy = at::empty(dimensions(tensor.info.shape), *type);
  if (!tensor.bytes.empty()) std::memcpy(copy.data_ptr(), tensor.bytes.data(), tensor.bytes.size());
  return copy;
}

at::Tensor TorchInput::row(std::int64_t row) const {
  if (stacked.defined()) return stacked.narrow(0, row, 1);
  const at::Tensor& alone = rows[static_cast<std::size_t>(row)];
  return alone.defined() ? alone.unsqueeze(0) : at::Tensor();
}

Result<std::vector<TorchInput>> torch_inputs(const Batch& batch) {
  std::vector<TorchInput> inputs;
  for (const BatchTensor& brought : batch.inputs) {
    auto tensor = to_torch(brought);
    if (!tensor) return tensor.error();
    const std::string& name = brought.tensor.info.name;
    auto input = std::ranges::find(inputs, name, &TorchInput::name);
    if (input == inputs.end()) input = inputs.insert(inputs.end(), {name, {}, {}});
    if (brought.row == kAllRows) {
      input->stacked = std::move(*tensor);
    } else {
      input->rows.resize(batch.rows);
      input->rows[static_cast<std::size_t>(brought.row)] = std::move(*tensor);
    }
  }
  for (TorchInput& input : inputs) {
    if (!input.stacked.defined()) stack_if_alike(input);
  }
  return inputs;
}

}  // namespace sluice::engine
