// Text for people: colours only on a terminal, tables.
#pragma once
#include <string>
#include <string_view>

#include "report/table.h"

namespace sluice::cli {

using report::Table;
using report::width;

// "ok:" in green and "error:" in red where the stream is a terminal that wants colours (NO_COLOR is honoured).
[[nodiscard]] std::string green(std::string_view text, int descriptor = 1);
[[nodiscard]] std::string red(std::string_view text, int descriptor = 1);
[[nodiscard]] std::string bold(std::string_view text, int descriptor = 1);

// Prints "error: MESSAGE" to standard error; the exit status for "the answer is no".
int failed(std::string_view message);

}  // namespace sluice::cli
