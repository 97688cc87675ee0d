#include "gateway/json_text.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace sluice::gateway {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

// The length of the UTF-8 character at the front of `text`; 0: none is there.
std::size_t character(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size()); ++length) {
    if (valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

void append_control(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

// Appends the first character of `text` and says how many bytes it had.
std::size_t append_special(std::string& out, std::string_view text) {
  const char c = text.front();
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (byte < 0x20 || byte == 0x7F) {
    append_control(out, c);
  } else if (const std::size_t length = character(text); length > 0) {
    out += text.substr(0, length);
    return length;
  } else {
    out += "\xEF\xBF\xBD";
  }
  return 1;
}

template <class T>
void append_real(std::string& out, T number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_special(out, text));
  }
  out += '"';
}

void append_json(std::string& out, double number) {
  append_real(out, number);
}

void append_json(std::string& out, float number) {
  append_real(out, number);
}

std::string error_json(std::string_view text) {
  std::string out = "{\"error\":";
  append_json(out, text);
  out += '}';
  return out;
}

}  // namespace sluice::gateway
