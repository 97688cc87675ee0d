// The client's side of the Open Inference Protocol: a model's inputs from its metadata, a call with binary tensors, the
// tensors of an answer.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/http_client.h"
#include "data/json.h"
#include "domain/function.h"
#include "engine/tensor_json.h"

namespace sluice::cli {

// The inputs in the answer of GET /v2/models/M, without the batch dimension. An error if it is none.
[[nodiscard]] Result<std::vector<Port>> inputs_of(const data::Json& metadata);

struct InferOptions {
  std::string model;
  std::optional<double> slo_ms;
  bool asynchronous = false;
  bool binary = true;  // outputs as bytes, not in JSON
};
[[nodiscard]] client::HttpRequest infer_request(const InferOptions& options,
                                                const std::vector<engine::OwnTensor>& inputs);

// `json`: with "outputs"; `binary`: the bytes behind it.
[[nodiscard]] Result<std::vector<engine::OwnTensor>> outputs_of(const data::Json& json, std::string_view binary);
[[nodiscard]] Result<std::vector<engine::OwnTensor>> outputs_of(const client::HttpResponse& response);

}  // namespace sluice::cli
