#include "spec/json_reader.h"

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {
namespace {

constexpr unsigned kNoUnit = 0x10000;  // beyond every UTF-16 code unit

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xE0 | (code >> 12));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
    }
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// Recursive descent, at most limits::document_depth_max deep. Every function that gives false has set the fault.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  bool document(Node& root) {
    if (text_.starts_with("\xEF\xBB\xBF")) return fail("starts with a byte order mark; save it as UTF-8 without one");
    skip_blanks();
    if (at_end()) return fail("the document is empty");
    if (!value(root, 0)) return false;
    skip_blanks();
    return at_end() || fail(str("expected the end of the document, got ", seen()));
  }
  [[nodiscard]] Mark fault_mark() const { return fault_mark_; }
  [[nodiscard]] std::string fault() && { return std::move(fault_); }

 private:
  [[nodiscard]] bool at_end() const { return pos_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[pos_]; }
  bool take(char c) {
    if (at_end() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  void skip_blanks() {
    while (!at_end() && (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\t' || text_[pos_] == '\r'))
      ++pos_;
  }

  // The position of the next character. Goes on from the last one asked for, so that all marks together are linear.
  Mark here() {
    for (; marked_ < pos_; ++marked_) {
      const auto byte = static_cast<unsigned char>(text_[marked_]);
      if (byte == '\n')
        mark_ = {mark_.line + 1, 1};
      else if ((byte & 0xC0u) != 0x80u)
        ++mark_.column;
    }
    return mark_;
  }
  bool fail(std::string message) {
    fault_mark_ = here();
    fault_ = std::move(message);
    return false;
  }
  // The next character, for messages.
  [[nodiscard]] std::string seen() const {
    if (at_end()) return "the end of the document";
    if (text_[pos_] == '/' || text_[pos_] == '#') return "a comment, which JSON does not have";
    std::size_t length = 1;
    while (length < 4 && pos_ + length < text_.size() &&
           (static_cast<unsigned char>(text_[pos_ + length]) & 0xC0u) == 0x80u)
      ++length;
    return str("'", printable(text_.substr(pos_, length)), "'");
  }

  bool value(Node& out, std::size_t depth) {
    if (++nodes_ > limits::document_nodes_max) return fail(str("more than ", limits::document_nodes_max, " values"));
    out.mark = here();
    const char c = peek();
    if (c == '{' || c == '[') {
      if (depth >= limits::document_depth_max)
        return fail(str("nested deeper than ", limits::document_depth_max, " levels"));
      ++pos_;
      return c == '{' ? object(out, depth + 1) : array(out, depth + 1);
    }
    if (c == '"') {
      out.kind = Node::Kind::scalar;
      out.quoted = true;
      return string(out.text);
    }
    if (c == '-' || is_digit(c)) return number(out);
    return word(out);
  }

  bool object(Node& out, std::size_t depth) {
    out.kind = Node::Kind::map;
    skip_blanks();
    if (take('}')) return true;
    do {
      skip_blanks();
      if (peek() == '}') return fail("a comma before '}' is not allowed");
      if (peek() != '"') return fail(str("expected a name in double quotes, got ", inside(out)));
      Entry& entry = out.entries.emplace_back();
      entry.mark = here();
      if (!string(entry.key)) return false;
      skip_blanks();
      if (!take(':')) return fail(str("expected ':' after the name '", printable(entry.key), "', got ", inside(out)));
      skip_blanks();
      if (!value(entry.value, depth)) return false;
      skip_blanks();
    } while (take(','));
    return take('}') || fail(str("expected ',' or '}', got ", inside(out)));
  }

  bool array(Node& out, std::size_t depth) {
    out.kind = Node::Kind::sequence;
    skip_blanks();
    if (take(']')) return true;
    do {
      skip_blanks();
      if (peek() == ']') return fail("a comma before ']' is not allowed");
      if (!value(out.items.emplace_back(), depth)) return false;
      skip_blanks();
    } while (take(','));
    return take(']') || fail(str("expected ',' or ']', got ", inside(out)));
  }

  // As seen(); at the end of a cut-off document it also says what was left open.
  [[nodiscard]] std::string inside(const Node& open) const {
    if (!at_end()) return seen();
    const char bracket = open.kind == Node::Kind::map ? '{' : '[';
    return str("the end of the document; the '", bracket, "' of line ", open.mark.line, " is not closed");
  }

  bool word(Node& out) {
    struct Word {
      std::string_view text;
      Node::Kind kind;
    };
    for (const Word& word :
         {Word{"true", Node::Kind::scalar}, Word{"false", Node::Kind::scalar}, Word{"null", Node::Kind::null}}) {
      if (!text_.substr(pos_).starts_with(word.text)) continue;
      pos_ += word.text.size();
      out.kind = word.kind;
      if (word.kind == Node::Kind::scalar) out.text = word.text;
      return true;
    }
    return fail(str("expected a value, got ", seen()));
  }

  bool digits() {
    if (!is_digit(peek())) return fail(str("a number lacks a digit, got ", seen()));
    while (is_digit(peek())) ++pos_;
    return true;
  }

  bool number(Node& out) {
    const std::size_t start = pos_;
    (void)take('-');
    if (take('0')) {
      if (is_digit(peek())) return fail("a number must not start with 0");
    } else if (!digits()) {
      return false;
    }
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) (void)take('-');
      if (!digits()) return false;
    }
    out.kind = Node::Kind::scalar;
    out.text = text_.substr(start, pos_ - start);
    return true;
  }

  bool string(std::string& out) {
    const Mark start = here();
    ++pos_;  // the opening quote
    for (;;) {
      std::size_t end = pos_;
      while (end < text_.size() && text_[end] != '"' && text_[end] != '\\' &&
             static_cast<unsigned char>(text_[end]) >= 0x20)
        ++end;
      out += text_.substr(pos_, end - pos_);
      pos_ = end;
      if (at_end())
        return fail(
            str("the document ends inside the text that starts in line ", start.line, ", column ", start.column));
      if (take('"')) return true;
      if (!take('\\')) return fail(str("a line break or control character inside a text; write \\n or \\u00XX"));
      if (!escape(out)) return false;
    }
  }

  bool escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode(out);
    const std::size_t which = at_end() ? std::string_view::npos : kNames.find(text_[pos_]);
    if (which == std::string_view::npos) return fail(str("unknown escape: '\\' followed by ", seen()));
    ++pos_;
    out += kValues[which];
    return true;
  }

  // Four hexadecimal digits; kNoUnit without moving if there are none.
  unsigned code_unit() {
    if (text_.size() - pos_ < 4) return kNoUnit;
    unsigned unit = 0;
    for (const char c : text_.substr(pos_, 4)) {
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) return kNoUnit;
      unit = unit * 16 + static_cast<unsigned>(digit < 16 ? digit : digit - 6);
    }
    pos_ += 4;
    return unit;
  }

  bool unicode(std::string& out) {
    const unsigned first = code_unit();
    if (first == kNoUnit) return fail("\\u needs four hexadecimal digits");
    if (first == 0) return fail("\\u0000 is not allowed");
    if (first < 0xD800 || first > 0xDFFF) {
      append_utf8(out, first);
      return true;
    }
    const bool pair = first < 0xDC00 && text_.substr(pos_).starts_with("\\u");
    if (pair) pos_ += 2;
    const unsigned second = pair ? code_unit() : kNoUnit;
    if (second < 0xDC00 || second > 0xDFFF)
      return fail("half of a surrogate pair; characters beyond \\uFFFF need both halves");
    append_utf8(out, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
    return true;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::size_t nodes_ = 0;
  std::size_t marked_ = 0;  // mark_ is the position of this byte
  Mark mark_{1, 1};
  Mark fault_mark_;
  std::string fault_;
};

}  // namespace

std::optional<Node> read_json(std::string_view text, const std::string& file, Diagnostics& out) {
  JsonParser parser(text);
  Node root;
  if (parser.document(root)) return root;
  const Mark mark = parser.fault_mark();
  out.error(file, mark, "", str("not valid JSON: ", std::move(parser).fault()));
  return std::nullopt;
}

}  // namespace sluice::spec
