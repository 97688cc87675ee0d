// The outputs of `sluice invoke`: shown in a table, or written to files.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tensor_json.h"

namespace sluice::cli {

// A line for each: name, type and shape, value.
[[nodiscard]] std::string outputs_text(const std::vector<engine::OwnTensor>& outputs);

// `assignment`: NAME=FILE. A .png has to be a picture; an .npy holds the tensor; other files get the bytes, of a single
// text those of the text. The line to print.
[[nodiscard]] Result<std::string> write_output(const std::string& assignment,
                                               const std::vector<engine::OwnTensor>& outputs);

}  // namespace sluice::cli
