#include "gateway/json_body.h"

#include <cstddef>

#include "base/text.h"
#include "gateway/invalid.h"

namespace sluice::gateway {

Result<data::Json> object_in(std::string_view body) {
  constexpr std::size_t kBodyMax = 64u << 10;
  if (body.size() > kBodyMax) return invalid(str("the body is longer than ", kBodyMax, " bytes"));
  auto json = data::parse_json(body);
  if (!json) return invalid(str("the body is no JSON: ", json.error().message));
  if (json->as<data::JsonObject>() == nullptr) return invalid("the body is no JSON object");
  return json;
}

}  // namespace sluice::gateway
