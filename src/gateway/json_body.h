// The body of a request that is one small JSON object: settings and questions, never tensors.
#pragma once
#include <string_view>

#include "base/result.h"
#include "data/json.h"

namespace sluice::gateway {

// invalid: too long, no JSON, or no object; the text says which.
[[nodiscard]] Result<data::Json> object_in(std::string_view body);

}  // namespace sluice::gateway
