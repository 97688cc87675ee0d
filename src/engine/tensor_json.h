// Tensors as JSON, for programs. One element is a value, more are nested lists; numbers, true and false, and texts.
// Used by the process engine.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "data/json.h"
#include "data/tensor.h"
#include "domain/function.h"

namespace sluice::engine {

// A tensor that is in no arena yet.
struct OwnTensor {
  data::TensorInfo info;
  std::string bytes;
};

// An error, and `out` as far as it got, if a text is not UTF-8 or a number is not finite: JSON has neither.
[[nodiscard]] Status append_tensor(std::string& out, const data::TensorView& tensor);

// What a value is as a tensor: whole numbers INT64, others FP64, true and false BOOL, texts BYTES, and nested lists of
// one of these with their shape; alone they have shape [1]. Everything else is its own text, BYTES of shape [1].
[[nodiscard]] OwnTensor tensor_of(const std::string& name, const data::Json& json);

// The same as `port` declares it. An error says what does not fit.
[[nodiscard]] Result<OwnTensor> tensor_of(const Port& port, const data::Json& json);

}  // namespace sluice::engine
