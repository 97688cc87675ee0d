// The sub-commands that talk to a running server; each returns the exit status. Parsing
// of the command line is in live_arguments.cpp only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice::cli {

struct ServerOptions {
  std::string server;  // HOST:PORT; empty: SLUICE_SERVER, else this machine
  std::string ca;     // who signed the certificate of an https:// server; empty: SLUICE_CA, else whom the system trusts
  bool json = false;  // print what the server says as it is
};

// What is deployed.
int apps_command(const ServerOptions& options);
// The server: scheduler, load, objects.
int status_command(const ServerOptions& options);
// Its machines, what is enforced on them, and their instances.
int nodes_command(const ServerOptions& options);

struct DeployOptions {
  ServerOptions server;
  std::string file;
  bool dry_run = false;
  std::optional<double> canary;  // percent of the calls
};
// Sends a document and the files it names. 1 also if a dry run says that it does not fit.
int deploy_command(const DeployOptions& options);

struct RemoveOptions {
  ServerOptions server;
  std::string application;
};
int remove_command(const RemoveOptions& options);

struct VersionOptions {
  ServerOptions server;
  std::string application;
  std::optional<std::uint32_t> version;  // rollback; absent: the one before
};
int promote_command(const VersionOptions& options);
int rollback_command(const VersionOptions& options);

struct InvokeOptions {
  ServerOptions server;
  std::string application;
  std::string data;                         // JSON or @FILE
  std::vector<std::string> inputs, images;  // NAME=FILE
  std::vector<std::string> outputs;         // NAME=FILE
  std::optional<double> slo_ms;             // absent: the application's
  bool asynchronous = false;
  int repeat = 1;
};
// Calls an application. 1 if it was refused, failed, or not answered.
int invoke_command(const InvokeOptions& options);

struct RequestsOptions {
  ServerOptions server;
  std::string id;  // one request; empty: the newest
  std::string application, state;
  std::size_t limit = 30;
};
// What was called and how it ended; one request with what it answered, if it was asynchronous.
int requests_command(const RequestsOptions& options);

struct KeyOptions {
  ServerOptions server;
  std::string name;
  std::string tenant = "default", role = "caller";  // of a new one
};
int keys_command(const ServerOptions& options);
int add_key_command(const KeyOptions& options);  // prints the key, which the server does not keep
int revoke_key_command(const KeyOptions& options);

struct TenantOptions {
  ServerOptions server;
  std::string name;
  std::map<std::string, std::optional<double>> limits;  // by their names in the API; nothing: no limit
  bool add = false;                                     // else it is there
};
int tenants_command(const ServerOptions& options);
int put_tenant_command(const TenantOptions& options);
int remove_tenant_command(const TenantOptions& options);

struct TraceOptions {
  ServerOptions server;
  std::string id;
  bool log = false;  // also what workers printed
};
// One request against its deadline.
int trace_command(const TraceOptions& options);

}  // namespace sluice::cli
