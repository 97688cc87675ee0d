// The worker of Python functions, a program of its own: its source is compiled in, so that a server can write it to
// where its interpreter finds it. Used by the invoker as `python3 FILE --socket FD`.
#pragma once
#include <string_view>

namespace sluice::engine {

extern const std::string_view kPythonWorkerSource;

[[nodiscard]] inline std::string_view python_worker_source() {
  return kPythonWorkerSource;
}

}  // namespace sluice::engine
