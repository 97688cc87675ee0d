#include "cli/live_arguments.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/live_commands.h"

namespace sluice::cli {
namespace {

void add_server(CLI::App& command, ServerOptions& options) {
  command.add_option("--server", options.server, "HOST:PORT (default: $SLUICE_SERVER, else 127.0.0.1:8000)");
  command.add_flag("--json", options.json, "Print the server's JSON");
}

void add_reader(CLI::App& app, int& status, const char* name, const char* what, int (*run)(const ServerOptions&)) {
  auto options = std::make_shared<ServerOptions>();
  CLI::App* command = app.add_subcommand(name, what);
  add_server(*command, *options);
  command->callback([options, run, &status] { status = run(*options); });
}

void add_remove(CLI::App& app, int& status) {
  auto options = std::make_shared<RemoveOptions>();
  CLI::App* command = app.add_subcommand("remove", "Remove an application from a server");
  command->add_option("NAME", options->application, "An application")->required();
  add_server(*command, options->server);
  command->callback([options, &status] { status = remove_command(*options); });
}

}  // namespace

void add_live_commands(CLI::App& app, int& status) {
  add_reader(app, status, "apps", "What is deployed, and how its requests fared", apps_command);
  add_remove(app, status);
  add_reader(app, status, "status", "The server: scheduler, load, objects, workers", status_command);
  add_reader(app, status, "nodes", "Its machines, what is enforced on them, their instances", nodes_command);
}

}  // namespace sluice::cli
