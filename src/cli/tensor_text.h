// Tensors as people read them: small ones whole, large ones as their range.
#pragma once
#include <string>
#include <vector>

#include "data/tensor.h"
#include "engine/tensor_json.h"

namespace sluice::cli {

[[nodiscard]] std::string type_text(const data::TensorInfo& info);  // "FP32 [3, 64, 64]"
// "7", "[0.1, 0.9]", "\"cat\"", "min 0 mean 0.5 max 1".
[[nodiscard]] std::string value_text(const engine::OwnTensor& tensor);
// The texts of a tensor of type BYTES. REQUIRES: it is well formed.
[[nodiscard]] std::vector<std::string> texts_of(const engine::OwnTensor& tensor);

}  // namespace sluice::cli
