// Small text tools for the layers that use nothing but the standard library.
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

namespace detail {
inline void append(std::string& out, std::string_view text) {
  out += text;
}
inline void append(std::string& out, char c) {
  out += c;
}
template <std::integral T>
requires(!std::same_as<T, char> && !std::same_as<T, bool>) void append(std::string& out, T number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}
void append(std::string& out, double number);  // the shortest text that reads back as the same number
}  // namespace detail

// str("stage ", name, " has ", 3, " inputs"): text, characters, integers and doubles in a row.
template <class... Parts>
[[nodiscard]] std::string str(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

// The leading number of "420ms" and what follows it; both may be empty.
[[nodiscard]] std::pair<std::string_view, std::string_view> split_number(std::string_view text);
// A finite number filling the whole text ("1.5", "-3", "1e6"); no hexadecimal, infinity, NaN or blanks.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);
// The number in `text` times `unit`, exact for whole numbers, else to the nearest; nothing if it is none or too large.
[[nodiscard]] std::optional<std::int64_t> parse_scaled(std::string_view text, std::int64_t unit);
// A decimal integer filling the whole text.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);
// True if `text` is well-formed UTF-8 without NUL.
[[nodiscard]] bool valid_utf8(std::string_view text);
// `text` with control characters and broken UTF-8 made visible, cut to `length_max` bytes, for error messages.
[[nodiscard]] std::string printable(std::string_view text, std::size_t length_max = 60);
// The candidate within a small edit distance of `name`, the first of the nearest; nothing if none is near.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view name,
                                                      std::span<const std::string_view> candidates);

}  // namespace sluice
