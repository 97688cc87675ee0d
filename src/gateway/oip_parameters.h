// The "parameters" objects and the list of wanted outputs of an inference request. Used by oip_request.
#pragma once
#include <simdjson.h>

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "gateway/oip_request.h"
#include "live/snapshot.h"

namespace sluice::gateway {

// timeout, priority, slo_ms, binary_data_output; what begins with triton_ is refused, others are ignored.
[[nodiscard]] Status read_request_parameters(simdjson::ondemand::value& value, InferRequest& out);
// binary_data_size.
[[nodiscard]] Status read_input_parameters(simdjson::ondemand::value& value,
                                           std::optional<std::uint64_t>& binary_bytes);
[[nodiscard]] Status read_outputs(simdjson::ondemand::value& value, const live::Model& model, ResponseForm& form);

}  // namespace sluice::gateway
