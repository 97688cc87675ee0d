// Text for people: colours only on a terminal, tables with aligned columns.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

// "ok:" in green and "error:" in red where the stream is a terminal that wants colours (NO_COLOR is honoured).
[[nodiscard]] std::string green(std::string_view text, int descriptor = 1);
[[nodiscard]] std::string red(std::string_view text, int descriptor = 1);
[[nodiscard]] std::string bold(std::string_view text, int descriptor = 1);

// Prints "error: MESSAGE" to standard error; the exit status for "the answer is no".
int failed(std::string_view message);

// Characters a terminal shows for a UTF-8 text (wide characters count as one).
[[nodiscard]] std::size_t width(std::string_view text);

// Columns as wide as their widest cell, two blanks between, no blanks at the ends of lines.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sluice::cli
