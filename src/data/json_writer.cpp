#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "data/json.h"

namespace sluice::data {
namespace {

template <class Float>
void append_float(std::string& out, Float number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  std::array<char, 32> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";  // so that it stays a number with a fraction
}

void append_escaped(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// How many bytes at the front are one character; 0: none.
std::size_t character(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
  for (std::size_t length = 2; length <= 4 && length <= text.size(); ++length) {
    if (valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

struct Writer {
  std::string& out;

  void operator()(std::nullptr_t) const { out += "null"; }
  void operator()(bool flag) const { out += flag ? "true" : "false"; }
  void operator()(std::int64_t number) const { out += str(number); }
  void operator()(double number) const { append_number(out, number); }
  void operator()(const std::string& text) const { append_quoted(out, text); }
  void operator()(const JsonArray& array) const {
    out += '[';
    for (const Json& item : array) {
      if (&item != &array.front()) out += ',';
      std::visit(*this, item.value);
    }
    out += ']';
  }
  void operator()(const JsonObject& object) const {
    out += '{';
    for (const JsonMember& member : object) {
      if (&member != &object.front()) out += ',';
      append_quoted(out, member.key);
      out += ':';
      std::visit(*this, member.value.value);
    }
    out += '}';
  }
};

}  // namespace

std::string to_text(const Json& json) {
  std::string out;
  std::visit(Writer{out}, json.value);
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t length = character(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c < 0x20 || c == '"' || c == '\\') {
      append_escaped(out, c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_number(std::string& out, double number) {
  append_float(out, number);
}

void append_number(std::string& out, float number) {
  append_float(out, number);
}

}  // namespace sluice::data
