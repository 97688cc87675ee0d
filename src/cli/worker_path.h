// Where the programs are that run functions: sluice-worker beside sluice itself (or $SLUICE_WORKER), and the Python
// worker, which is written out from this program.
#pragma once
#include <string>

#include "base/result.h"
#include "invoker/spawner.h"

namespace sluice::cli {

// `directory`: the server's data, closed to all others and to workers; the Python worker is written there. Workers get
// variables named in $SLUICE_WORKER_ENV (A,B), become users of $SLUICE_WORKER_USERS (FIRST-LAST, or none) and read,
// where landlock keeps them, $SLUICE_WORKER_READS (DIR:DIR) too. An error says where sluice-worker was looked for.
[[nodiscard]] Result<invoker::Spawner::Options> spawner_options(const std::string& directory);

// The program sluice-worker. An error says where it was looked for.
[[nodiscard]] Result<std::string> worker_program();

// The interpreter of Python functions: $SLUICE_PYTHON, else the first that has numpy of python3 and the system's.
[[nodiscard]] std::string python_program();

// How a shell in this folder calls this program: `sluice` where PATH has it, else its path.
[[nodiscard]] std::string own_command();

// A folder of examples beside the program or above it ("vision"); empty: there is none.
[[nodiscard]] std::string example_folder(const std::string& name);

}  // namespace sluice::cli
