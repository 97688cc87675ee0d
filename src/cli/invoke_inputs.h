// The inputs of `sluice invoke`: numbers in JSON, files of numbers and pictures, checked against what a model declares.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/function.h"
#include "engine/tensor_json.h"

namespace sluice::cli {

struct InputArguments {
  std::string data;                 // a JSON object, name → value, or @FILE; empty: none
  std::vector<std::string> inputs;  // NAME=FILE, .npy or the bytes themselves
  std::vector<std::string> images;  // NAME=FILE
};

// `declared`: without batch dimension; empty: the model takes anything. An error names what does not fit, with both
// shapes.
[[nodiscard]] Result<std::vector<engine::OwnTensor>> make_inputs(const InputArguments& arguments,
                                                                 const std::vector<Port>& declared);

// "NAME=FILE" in two.
[[nodiscard]] Result<std::pair<std::string, std::string>> split_assignment(const std::string& option,
                                                                           const std::string& text);

}  // namespace sluice::cli
