// Lays the outputs of a batch out one after another in space that is taken once. Every engine ends with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "data/tensor.h"
#include "engine/engine.h"

namespace sluice::engine {

struct PlannedOutput {
  data::TensorInfo info;
  std::int32_t row = kAllRows;
  std::size_t bytes = 0;
};

// The tensors in the order given, each aligned as an arena aligns; their bytes are still what was there before.
[[nodiscard]] Result<std::vector<BatchTensor>> place(std::vector<PlannedOutput> planned, OutputSpace& space);

}  // namespace sluice::engine
