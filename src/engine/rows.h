// One row of a tensor that holds a batch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "data/tensor.h"

namespace sluice::engine {

// The elements of a tensor of type bytes. An error if its bytes are not what the shape asks for: other processes of the
// same tenant can write this memory at any time, so that it is read with care however often it was checked.
[[nodiscard]] Result<std::vector<std::span<std::byte>>> elements_of(const data::TensorView& tensor);

// The rows of a stacked tensor: the same name and type, one dimension less.
// REQUIRES: the first dimension is `rows`, which is not 0.
[[nodiscard]] Result<std::vector<data::TensorView>> rows_of(const data::TensorView& stacked, std::uint32_t rows);

}  // namespace sluice::engine
