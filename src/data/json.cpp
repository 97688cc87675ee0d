#include "data/json.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace sluice::data {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      byte(0xe0 | (code >> 12));
    } else {
      byte(0xf0 | (code >> 18));
      byte(0x80 | ((code >> 12) & 0x3f));
    }
    byte(0x80 | ((code >> 6) & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The key that is there twice.
std::optional<std::string_view> repeated(const JsonObject& object) {
  std::vector<std::string_view> keys;
  keys.reserve(object.size());
  for (const JsonMember& member : object) keys.push_back(member.key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  return twice == keys.end() ? std::nullopt : std::optional(*twice);
}

// Every function leaves `error_` empty or gives up: callers look at it once they have to.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> document() {
    Json json;
    value(json, 0);
    next();
    if (at_ < text_.size()) fail("nothing may follow the value");
    if (!error_.empty()) return Error{ErrorCode::invalid, error_};
    return json;
  }

 private:
  void fail(std::string_view what) {
    if (error_.empty()) error_ = str("JSON, byte ", at_ + 1, ": ", what);
  }
  // The next character that is no blank, not taken; NUL at the end.
  char next() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void value(Json& json, std::size_t depth) {
    const char c = next();
    if ((c == '[' || c == '{') && depth == json_depth_max) {
      return fail(str("more than ", json_depth_max, " arrays and objects inside one another"));
    }
    switch (c) {
      case '{':
        return object(json.value.emplace<JsonObject>(), depth + 1);
      case '[':
        return array(json.value.emplace<JsonArray>(), depth + 1);
      case '"':
        return string(json.value.emplace<std::string>());
      case 't':
        return word("true", json, true);
      case 'f':
        return word("false", json, false);
      case 'n':
        return word("null", json, nullptr);
      default:
        return c == '-' || is_digit(c) ? number(json) : fail("a value is expected");
    }
  }

  template <class T>
  void word(std::string_view word, Json& json, T meaning) {
    if (!text_.substr(at_).starts_with(word)) return fail("a value is expected");
    at_ += word.size();
    json.value = meaning;
  }

  void object(JsonObject& object, std::size_t depth) {
    ++at_;
    if (next() == '}') return static_cast<void>(++at_);
    do {
      if (next() != '"') return fail("a key in quotes is expected");
      auto& [key, member] = object.emplace_back();
      string(key);
      if (!error_.empty()) return;
      if (next() != ':') return fail("`:` is expected");
      ++at_;
      value(member, depth);
      if (!error_.empty()) return;
      next();
    } while (take(','));
    if (!take('}')) return fail("`,` or `}` is expected");
    if (const auto key = repeated(object)) fail(str("key `", printable(*key), "` is there twice"));
  }

  void array(JsonArray& array, std::size_t depth) {
    ++at_;
    if (next() == ']') return static_cast<void>(++at_);
    do {
      value(array.emplace_back(), depth);
      if (!error_.empty()) return;
      next();
    } while (take(','));
    if (!take(']')) fail("`,` or `]` is expected");
  }

  void string(std::string& out) {
    ++at_;
    for (;;) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        ++at_;
      }
      const std::string_view plain = text_.substr(begin, at_ - begin);
      if (!valid_utf8(plain)) return fail("a text is not UTF-8");
      out += plain;
      if (take('"')) return;
      if (at_ == text_.size()) return fail("a text has no end");
      if (!take('\\')) return fail("a control character in a text has to be escaped");
      escape(out);
      if (!error_.empty()) return;
    }
  }

  void escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode(out);
    const std::size_t which = at_ < text_.size() ? kNames.find(text_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) return fail("an escape that JSON does not have");
    out += kMeanings[which];
    ++at_;
  }

  void unicode(std::string& out) {
    const auto first = four_digits();
    if (!first) return fail("four hexadecimal digits are expected");
    if (*first < 0xd800 || *first > 0xdfff) return append_utf8(out, *first);
    const bool escaped = *first <= 0xdbff && take('\\') && take('u');
    const auto second = escaped ? four_digits() : std::nullopt;
    if (!second || *second < 0xdc00 || *second > 0xdfff) return fail("half of a surrogate pair");
    append_utf8(out, 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00));
  }

  std::optional<std::uint32_t> four_digits() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc{} || digits.size() != 4 || end != digits.data() + 4) return std::nullopt;
    at_ += 4;
    return code;
  }

  // False if there is none.
  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  void number(Json& json) {
    const std::size_t begin = at_;
    const bool negative = take('-');
    const bool zero = take('0');
    if (!zero && !digits()) return fail("a digit is expected");
    if (zero && at_ < text_.size() && is_digit(text_[at_])) return fail("a number must not begin with 0");
    bool whole = !(negative && zero);  // -0 is a number of its own
    if (take('.')) {
      whole = false;
      if (!digits()) return fail("a digit is expected");
    }
    if (take('e') || take('E')) {
      whole = false;
      if (!take('-')) take('+');
      if (!digits()) return fail("a digit is expected");
    }
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (const auto integer = whole ? parse_int(text) : std::nullopt) {
      json.value = *integer;
    } else if (const auto real = parse_double(text)) {
      json.value = *real;
    } else {
      fail("a number too large or too small");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  const auto* object = as<JsonObject>();
  if (object == nullptr) return nullptr;
  const auto member = std::ranges::find(*object, key, &JsonMember::key);
  return member == object->end() ? nullptr : &member->value;
}

bool operator==(const Json& a, const Json& b) {
  return a.value == b.value;
}

bool operator==(const JsonMember& a, const JsonMember& b) {
  return a.key == b.key && a.value == b.value;
}

Result<Json> parse_json(std::string_view text) {
  return Parser(text).document();
}

bool utf8(std::string_view text) {
  for (;;) {
    const std::size_t nul = text.find('\0');
    if (!valid_utf8(text.substr(0, nul))) return false;
    if (nul == std::string_view::npos) return true;
    text.remove_prefix(nul + 1);
  }
}

}  // namespace sluice::data
