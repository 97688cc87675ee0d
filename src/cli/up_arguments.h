// The command line of `sluice up`, and its configuration file: every flag by its name.
#pragma once

namespace CLI {
class App;
}

namespace sluice::cli {

// `status` gets the exit status of the command if it was run.
void add_up(CLI::App& app, int& status);

}  // namespace sluice::cli
