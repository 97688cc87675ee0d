// Rows of a reproduced paper as tables for people: for a terminal, or in Markdown for the docs.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "reproduce/row.h"

namespace sluice::report {

// How headings are written: as they are, or somehow better, such as bold on a terminal.
using Heading = std::function<std::string(std::string_view)>;
struct TextStyle {
  bool markdown = false;  // else for a terminal
  Heading heading;        // unused in Markdown
};
// A table per experiment, then every claim with whether it holds.
[[nodiscard]] std::string text_of(std::span<const reproduce::Row> rows, const TextStyle& style);

}  // namespace sluice::report
