// What rows left one by one, as the outputs of their batch. Used by engines that run a row at a time.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/tensor_json.h"

namespace sluice::engine {

struct RowOutputs {
  std::vector<OwnTensor> tensors;
  std::string error;  // empty: it succeeded
};

// An output that every row has, of one type and shape, is stacked; any other stays with its row. In the order of the
// first row that has it.
[[nodiscard]] Result<Outputs> join_rows(std::vector<RowOutputs> rows, OutputSpace& space);

}  // namespace sluice::engine
