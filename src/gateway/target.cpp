#include "gateway/target.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace sluice::gateway {

std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> parts;
  if (!path.starts_with('/')) return parts;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  parts.reserve(8);
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    std::uint8_t byte = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* digits = text.data() + i + 1;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view item = query.substr(0, end);
    const std::size_t equals = std::min(item.find('='), item.size());
    if (item.substr(0, equals) == key) {
      return percent_decoded(equals == item.size() ? std::string_view() : item.substr(equals + 1));
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

}  // namespace sluice::gateway
