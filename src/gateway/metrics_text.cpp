#include "gateway/metrics_text.h"

#include <cmath>

#include "base/text.h"

namespace sluice::gateway {

void begin_family(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += str("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void append_series(std::string& out, std::string_view name, std::initializer_list<Label> labels) {
  out += name;
  if (labels.size() == 0) return;
  char before = '{';
  for (const auto& [key, value] : labels) {
    out += before;
    out += key;
    out += "=\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out += '\\';
      out += c == '\n' ? "\\n" : std::string_view(&c, 1);
    }
    out += '"';
    before = ',';
  }
  out += '}';
}

void append_value(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    out += str(value);
  }
}

}  // namespace sluice::gateway
