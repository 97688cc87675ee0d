// Json: a value of RFC 8259, read and written with the standard library alone. For programs that speak JSON and for
// conditions on what they answer. Any bytes may come in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sluice::data {

struct Json;
struct JsonMember;
using JsonArray = std::vector<Json>;
using JsonObject = std::vector<JsonMember>;  // in the order of the text; every key once

struct Json {
  // Null by default. A number without fraction and exponent that fits is a std::int64_t.
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, JsonArray, JsonObject> value;

  // Null: it is something else.
  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  // Null: no object, or without that key.
  [[nodiscard]] const Json* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  Json value;
};

[[nodiscard]] bool operator==(const Json& a, const Json& b);
[[nodiscard]] bool operator==(const JsonMember& a, const JsonMember& b);

inline constexpr std::size_t json_depth_max = 64;  // arrays and objects inside one another

// Exactly one value. An error says at which byte what is wrong. Memory is bounded by about 40 bytes for each one of
// `text`.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

// Without blanks. Reads back as the same value, but what JSON cannot say becomes null (a number that is not finite) or
// U+FFFD (a byte that is not UTF-8).
[[nodiscard]] std::string to_text(const Json& json);

// The parts of it, for those who write without making values first.
void append_quoted(std::string& out, std::string_view text);
void append_number(std::string& out, double number);
void append_number(std::string& out, float number);  // the shortest that reads back as the same float
// Well-formed UTF-8; NUL is a character like any other.
[[nodiscard]] bool utf8(std::string_view text);

}  // namespace sluice::data
