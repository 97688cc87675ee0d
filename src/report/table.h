// Tables with aligned columns, for people.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::report {

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

}  // namespace sluice::report
