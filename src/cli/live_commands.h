// The sub-commands that talk to a running server, and those about this machine; each returns the exit status. Parsing
// of the command line is in live_arguments.cpp only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::cli {

struct ServerOptions {
  std::string server;  // HOST:PORT; empty: SLUICE_SERVER, else this machine
  bool json = false;   // print what the server says as it is
};

// What is deployed.
int apps_command(const ServerOptions& options);
// The server: scheduler, load, objects.
int status_command(const ServerOptions& options);
// Its machines, what is enforced on them, and their instances.
int nodes_command(const ServerOptions& options);

struct RemoveOptions {
  ServerOptions server;
  std::string application;
};
int remove_command(const RemoveOptions& options);

}  // namespace sluice::cli
