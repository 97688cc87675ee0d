// The command line of `sluice`.
#pragma once

namespace sluice::cli {

// Parses and runs; the exit status. 0 success, 1 the answer is no, 2 the command line is wrong.
int run(int argc, char** argv);

}  // namespace sluice::cli
