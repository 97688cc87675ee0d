// NumPy's .npy files: one tensor in C order, little-endian, of any type that NumPy has a name for.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/tensor_json.h"

namespace sluice::cli {

[[nodiscard]] bool is_npy(std::string_view file);
[[nodiscard]] Result<engine::OwnTensor> decode_npy(const std::string& name, std::string_view file);
// An error for BF16 and BYTES, which have no type there.
[[nodiscard]] Result<std::string> encode_npy(const engine::OwnTensor& tensor);

}  // namespace sluice::cli
