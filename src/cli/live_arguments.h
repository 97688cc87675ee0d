// The command line of the commands in live_commands.h.
#pragma once

namespace CLI {
class App;
}

namespace sluice::cli {

// `status` gets the exit status of the command that was run.
void add_live_commands(CLI::App& app, int& status);

}  // namespace sluice::cli
