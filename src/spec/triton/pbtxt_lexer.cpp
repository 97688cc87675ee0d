#include "spec/triton/pbtxt_lexer.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace sluice::spec {
namespace {

constexpr std::string_view kSymbols = ":,;{}<>[]-";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

PbtxtToken fault(Mark mark, std::string message) {
  return {PbtxtToken::Kind::fault, std::move(message), mark};
}

std::optional<std::string> integer_as_decimal(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return str(value);
}

// The token of a number as decimal text; nothing if it is none. A leading 0 means octal, as in C.
std::optional<std::string> number_text(std::string_view token) {
  if (token.starts_with("0x") || token.starts_with("0X")) return integer_as_decimal(token.substr(2), 16);
  const bool whole = token.find_first_not_of("0123456789") == std::string_view::npos;
  if (whole && token.size() > 1 && token.front() == '0') return integer_as_decimal(token.substr(1), 8);
  if (whole) return std::string(token);
  if (token.ends_with('f') || token.ends_with('F')) token.remove_suffix(1);
  if (!parse_double(token)) return std::nullopt;
  return std::string(token);
}

// Surrogates come out as broken UTF-8, which the check of the whole string then reports.
void append_utf8(std::string& out, unsigned long code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

PbtxtLexer::PbtxtLexer(std::string_view text) : text_(text) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

char PbtxtLexer::take() {
  const char c = text_[at_++];
  if (c == '\n') {
    ++mark_.line;
    mark_.column = 1;
  } else if (!is_continuation(c)) {  // the bytes of one character are one column
    ++mark_.column;
  }
  return c;
}

void PbtxtLexer::skip_blanks_and_comments() {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  bool comment = false;
  while (!done() && (comment || peek() == '#' || kBlanks.find(peek()) != std::string_view::npos)) {
    const char c = take();
    comment = c != '\n' && (comment || c == '#');
  }
}

PbtxtToken PbtxtLexer::next() {
  skip_blanks_and_comments();
  const Mark mark = mark_;
  if (done()) return {PbtxtToken::Kind::end, "", mark};
  const char c = peek();
  if (is_letter(c)) return identifier(mark);
  const bool fraction = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
  if (is_digit(c) || fraction) return number(mark);
  if (c == '"' || c == '\'') return string(mark);
  if (kSymbols.find(c) != std::string_view::npos) return {PbtxtToken::Kind::symbol, std::string(1, take()), mark};
  const std::size_t start = at_;
  do take();
  while (is_continuation(peek()));
  return fault(mark, str("unexpected character '", printable(text_.substr(start, at_ - start)), "'"));
}

PbtxtToken PbtxtLexer::identifier(Mark mark) {
  const std::size_t start = at_;
  while (is_letter(peek()) || is_digit(peek())) take();
  return {PbtxtToken::Kind::identifier, std::string(text_.substr(start, at_ - start)), mark};
}

PbtxtToken PbtxtLexer::number(Mark mark) {
  const std::size_t start = at_;
  const auto exponent_sign = [&] {
    const char before = at_ > start ? text_[at_ - 1] : '\0';
    const bool hexadecimal = at_ > start + 1 && (text_[start + 1] == 'x' || text_[start + 1] == 'X');
    return (peek() == '+' || peek() == '-') && (before == 'e' || before == 'E') && !hexadecimal;
  };
  while (is_letter(peek()) || is_digit(peek()) || peek() == '.' || exponent_sign()) take();
  const std::string_view token = text_.substr(start, at_ - start);
  auto text = number_text(token);
  if (!text) return fault(mark, str("'", printable(token), "' is not a number, or it is too large"));
  return {PbtxtToken::Kind::number, std::move(*text), mark};
}

PbtxtToken PbtxtLexer::string(Mark mark) {
  const char quote = take();
  std::string out;
  while (!done() && peek() != quote && peek() != '\n') {
    const Mark here = mark_;
    const char c = take();
    if (c != '\\') {
      out += c;
    } else if (!unescape(out)) {
      return fault(here, "unknown escape in a string; write \\\\ for a backslash");
    }
  }
  if (done() || peek() == '\n')
    return fault(mark, str("the string that begins here has no closing ", quote, " in its line"));
  take();
  if (!valid_utf8(out)) return fault(mark, "the string is not valid UTF-8, or it holds a zero byte");
  return {PbtxtToken::Kind::string, std::move(out), mark};
}

bool PbtxtLexer::unescape(std::string& out) {
  constexpr std::string_view kNames = "abfnrtv?\\'\"";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v?\\'\"";
  if (done() || peek() == '\n') return false;
  if (const std::size_t i = kNames.find(peek()); i != std::string_view::npos) {
    take();
    out += kMeanings[i];
    return true;
  }
  if (const Digits octal = digits(8, 3); octal.length > 0) {
    out += static_cast<char>(octal.value);
    return octal.value <= 0xFF;
  }
  const char kind = take();
  if (kind == 'x' || kind == 'X') {
    const Digits hexadecimal = digits(16, 2);
    out += static_cast<char>(hexadecimal.value);
    return hexadecimal.length > 0;
  }
  if (kind != 'u' && kind != 'U') return false;
  const std::size_t length = kind == 'u' ? 4 : 8;
  const Digits code = digits(16, length);
  if (code.length != length || code.value > 0x10FFFF) return false;
  append_utf8(out, code.value);
  return true;
}

PbtxtLexer::Digits PbtxtLexer::digits(int base, std::size_t length_max) {
  Digits out;
  while (out.length < length_max && !done()) {
    const char c = peek();
    unsigned digit = 0;
    if (std::from_chars(&c, &c + 1, digit, base).ec != std::errc{}) break;
    out.value = out.value * static_cast<unsigned long>(base) + digit;
    ++out.length;
    take();
  }
  return out;
}

}  // namespace sluice::spec
