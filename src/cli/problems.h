// What is wrong with a document, as `check` and the commands that need one print it.
#pragma once
#include <string>

#include "spec/load.h"

namespace sluice::cli {

// A line for each error and warning, then, if there is no document, "error: FILE: 2 errors".
[[nodiscard]] std::string problems(const spec::Loaded& loaded);

}  // namespace sluice::cli
