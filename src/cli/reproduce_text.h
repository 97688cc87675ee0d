// Rows of a reproduced paper as tables for people: for a terminal, or in Markdown for the docs.
#pragma once
#include <span>
#include <string>

#include "reproduce/row.h"

namespace sluice::cli {

enum class TextStyle { terminal, markdown };
// A table per experiment, then every claim with whether it holds.
[[nodiscard]] std::string text_of(std::span<const reproduce::Row> rows, TextStyle style);

}  // namespace sluice::cli
