// Tensors as bytes that can be kept: what the journal holds as inputs and outputs. First what they are, then their
// bytes in a row.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/tensor.h"

namespace sluice::store {

[[nodiscard]] std::string to_blob(const data::Tensors& tensors);
// Takes any bytes: invalid if they are not tensors, unavailable if the arena has no room for them.
[[nodiscard]] Result<data::Tensors> from_blob(std::string_view blob, data::Arena& arena);

}  // namespace sluice::store
