// Which runtimes this program has, and what is loaded ahead so that functions start sooner.
#pragma once
#include <vector>

#include "base/result.h"
#include "domain/function.h"

namespace sluice::engine {

// Those that make_engine makes, in the order of the enum.
[[nodiscard]] std::vector<Runtime> runtimes();

// Loads and warms the libraries of engines, for a process that forks workers. One thread is used and none is left: a
// child could not use a pool of threads whose parent had started it. An error: a library is there and cannot be used.
[[nodiscard]] Status warm();

}  // namespace sluice::engine
