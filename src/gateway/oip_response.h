// The answer of an inference request as the Open Inference Protocol has it: JSON, and bytes after it where asked for.
// Every synchronous request passes here, so text is appended by hand. Key order is Triton's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/tensor.h"
#include "gateway/oip_request.h"

namespace sluice::gateway {

struct InferResponse {
  std::string body;
  std::optional<std::size_t> json_bytes;  // bytes follow the JSON: goes into Inference-Header-Content-Length
};

struct ModelName {
  std::string_view name;
  std::uint32_t version = 1;
};

// `further`: what the rows after the first left; their outputs are stacked below those of the first. invalid: an output
// was asked for that is not there, or as JSON that has no JSON form, or cannot be stacked.
// REQUIRES: one row more than `further` has was asked for.
[[nodiscard]] Result<InferResponse> write_infer_response(const ModelName& model, const ResponseForm& form,
                                                         const data::Tensors& outputs,
                                                         std::span<const data::Tensors> further = {});
// For readers of stored results: all outputs as JSON; those without a JSON form have "base64" instead of "data".
[[nodiscard]] std::string write_stored_result(const ModelName& model, std::string_view caller_id,
                                              const data::Tensors& outputs);

}  // namespace sluice::gateway
