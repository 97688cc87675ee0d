// The checks of `sluice doctor`, one function each; nothing is left behind.
#pragma once
#include <string>

#include "cli/live_commands.h"

namespace sluice::cli {

struct Finding {
  enum class Level { ok, warning, error };
  Level level = Level::ok;
  std::string check;    // what was looked at: "worker"
  std::string message;  // what is so, and what would help
};

[[nodiscard]] Finding check_worker();                             // sluice-worker is there and runs
[[nodiscard]] Finding check_python();                             // python3 with numpy
[[nodiscard]] Finding check_workers();                            // what keeps functions from others' files
[[nodiscard]] Finding check_limits();                             // vCPUs and memory can be enforced
[[nodiscard]] Finding check_shared_memory();                      // 1 GB of it
[[nodiscard]] Finding check_open_files();                         // enough at once
[[nodiscard]] Finding check_data(const std::string& directory);   // writable, with room
[[nodiscard]] Finding check_gpu();                                // the driver and its devices
[[nodiscard]] Finding check_clock();                              // it has been set
[[nodiscard]] Finding check_server(const ServerOptions& server);  // one answers

}  // namespace sluice::cli
