// JSON written by hand, for paths that every request takes: data/json.h under one name for all types. Slow paths use
// nlohmann-json.
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/json.h"

namespace sluice::gateway {

// `text` in quotes; broken UTF-8 becomes U+FFFD.
inline void append_json(std::string& out, std::string_view text) {
  data::append_quoted(out, text);
}
// The shortest text that reads back as the same number, with a point or an exponent; null if it is not finite.
inline void append_json(std::string& out, double number) {
  data::append_number(out, number);
}
inline void append_json(std::string& out, float number) {
  data::append_number(out, number);
}

template <std::integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, char>) void append_json(std::string& out, T number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// {"error": text}
[[nodiscard]] std::string error_json(std::string_view text);

}  // namespace sluice::gateway
