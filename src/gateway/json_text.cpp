#include "gateway/json_text.h"

namespace sluice::gateway {

std::string error_json(std::string_view text) {
  std::string out = "{\"error\":";
  append_json(out, text);
  out += '}';
  return out;
}

}  // namespace sluice::gateway
