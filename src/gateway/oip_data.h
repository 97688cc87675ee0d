// The "data" of an input, flat or nested JSON, into the bytes of a tensor; every value checked against the datatype.
#pragma once
#include <simdjson.h>

#include <cstddef>

#include "base/result.h"
#include "data/tensor.h"
#include "gateway/oip_input.h"

namespace sluice::gateway {

// The tensor of `head` from the JSON `data`, which is part of a text of `json_bytes` bytes.
[[nodiscard]] Result<data::Tensor> place_json(const InputHead& head, simdjson::ondemand::array data,
                                              std::size_t json_bytes, const live::Model& model, data::Arena* arena);

// "failed to parse the request JSON buffer: …"
[[nodiscard]] Error json_error(simdjson::error_code code);

}  // namespace sluice::gateway
