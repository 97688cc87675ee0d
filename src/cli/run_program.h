// Runs a program to its end and keeps what it printed. For the checks of `sluice doctor`.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::cli {

struct Ran {
  int status = 0;      // 128 + signal if it was killed
  std::string output;  // standard output; what it complains about is dropped
};
// `command`: the program, looked for in PATH, and its arguments. An error if it cannot be started.
[[nodiscard]] Result<Ran> run_program(const std::vector<std::string>& command);

}  // namespace sluice::cli
