// Protobuf text format, cut into tokens with positions. Used by pbtxt_reader.cpp only; knows no grammar beyond tokens.
#pragma once
#include <string>
#include <string_view>

#include "spec/tree.h"

namespace sluice::spec {

struct PbtxtToken {
  enum class Kind {
    identifier,
    number,  // without sign; octal and hexadecimal are rewritten as decimal, a float's suffix is dropped
    string,  // one literal, unescaped, valid UTF-8
    symbol,  // one of : , ; { } < > [ ] -
    end,
    fault,  // `text` says what is wrong
  };
  Kind kind = Kind::end;
  std::string text;
  Mark mark;  // columns count characters, not bytes
};

class PbtxtLexer {
 public:
  // `text` must outlive the lexer.
  explicit PbtxtLexer(std::string_view text);
  // The next token; `end` again and again after the last. Nothing useful follows a fault.
  [[nodiscard]] PbtxtToken next();

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  char take();
  void skip_blanks_and_comments();
  [[nodiscard]] PbtxtToken identifier(Mark mark);
  [[nodiscard]] PbtxtToken number(Mark mark);
  [[nodiscard]] PbtxtToken string(Mark mark);
  // Appends what the escape after a backslash stands for; false if it stands for nothing.
  [[nodiscard]] bool unescape(std::string& out);
  struct Digits {
    unsigned long value = 0;
    std::size_t length = 0;
  };
  [[nodiscard]] Digits digits(int base, std::size_t length_max);

  std::string_view text_;
  std::size_t at_ = 0;
  Mark mark_{1, 1};
};

}  // namespace sluice::spec
