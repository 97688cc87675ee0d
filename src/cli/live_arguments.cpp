#include "cli/live_arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "base/bytes.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/doctor.h"
#include "cli/live_commands.h"
#include "cli/profile_command.h"
#include "domain/limits.h"

namespace sluice::cli {
namespace {

void add_server(CLI::App& command, ServerOptions& options) {
  command.add_option("--server", options.server,
                     "HOST:PORT or https://HOST:PORT (default: $SLUICE_SERVER, else 127.0.0.1:8000)");
  command.add_option(
      "--ca", options.ca,
      "Who signed the certificate of an https:// server, PEM (default: $SLUICE_CA, else whom the system trusts)");
  command.add_flag("--json", options.json, "Print the server's JSON");
}

// Above 0 and below 100; the sign may be left out.
double read_percent(const char* option, std::string text) {
  if (text.ends_with('%')) text.pop_back();
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error == std::errc() && end == text.data() + text.size() && percent > 0 && percent < 100) return percent;
  const std::string problem = "'" + text + "' is not a percentage above 0 and below 100; write 10%";
  throw CLI::ValidationError(option, problem);  // tidy: allow(throw) how CLI11 is told
}

Duration read_duration(const char* option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (duration && *duration > Duration{}) return *duration;
  const std::string problem = "'" + text + "' is not a duration; write 420ms, 1.5s or 2m";
  throw CLI::ValidationError(option, problem);  // tidy: allow(throw) how CLI11 is told
}

void add_reader(CLI::App& app, int& status, const char* name, const char* what, int (*run)(const ServerOptions&)) {
  auto options = std::make_shared<ServerOptions>();
  CLI::App* command = app.add_subcommand(name, what);
  add_server(*command, *options);
  command->callback([options, run, &status] { status = run(*options); });
}

void add_deploy(CLI::App& app, int& status) {
  auto options = std::make_shared<DeployOptions>();
  CLI::App* command = app.add_subcommand("deploy", "Deploy an application, or a new version of it");
  command->add_option("FILE", options->file, "An application; the files it names are sent with it")->required();
  command->add_flag("--dry-run", options->dry_run, "Only say whether it fits, and why not");
  command
      ->add_option_function<std::string>(
          "--canary", [options](const std::string& text) { options->canary = read_percent("--canary", text); },
          "Give it this share of the calls; the version before goes on with the rest")
      ->type_name("PERCENT");
  add_server(*command, options->server);
  command->callback([options, &status] { status = deploy_command(*options); });
}

void add_versions(CLI::App& app, int& status) {
  auto promoted = std::make_shared<VersionOptions>();
  CLI::App* promote = app.add_subcommand("promote", "Let the canary of an application serve all calls");
  promote->add_option("NAME", promoted->application, "An application")->required();
  add_server(*promote, promoted->server);
  promote->callback([promoted, &status] { status = promote_command(*promoted); });
  auto back = std::make_shared<VersionOptions>();
  CLI::App* rollback =
      app.add_subcommand("rollback", "Take the canary of an application away, or go back to an earlier version");
  rollback->add_option("NAME", back->application, "An application")->required();
  rollback->add_option("--to", back->version, "A version that is kept (sluice apps); else the one before");
  add_server(*rollback, back->server);
  rollback->callback([back, &status] { status = rollback_command(*back); });
}

void add_remove(CLI::App& app, int& status) {
  auto options = std::make_shared<RemoveOptions>();
  CLI::App* command = app.add_subcommand("remove", "Remove an application from a server");
  command->add_option("NAME", options->application, "An application")->required();
  add_server(*command, options->server);
  command->callback([options, &status] { status = remove_command(*options); });
}

void add_invoke(CLI::App& app, int& status) {
  auto options = std::make_shared<InvokeOptions>();
  CLI::App* command = app.add_subcommand("invoke", "Call an application and show what it answers");
  command->add_option("APP", options->application, "An application, or a function of one: APP.FUNCTION")->required();
  command->add_option("--data", options->data, R"(Inputs as JSON, {"x": [1, 2]}, or @FILE)");
  command->add_option("--input", options->inputs, "NAME=FILE: an .npy file, or the bytes of the tensor")
      ->allow_extra_args(false);
  command->add_option("--image", options->images, "NAME=FILE: a PNG, PGM or PPM as FP32 [C, H, W] in 0..1")
      ->allow_extra_args(false);
  command->add_option("--output", options->outputs, "NAME=FILE: write this output, as .png, .npy or its bytes")
      ->allow_extra_args(false);
  command->add_option_function<std::string>(
      "--slo", [options](const std::string& text) { options->slo_ms = read_duration("--slo", text).to_ms(); },
      "Objective of this call, e.g. 420ms (default: the application's)");
  auto* async = command->add_flag("--async", options->asynchronous, "Do not wait; `sluice requests ID` has the answer");
  command->add_option("--repeat", options->repeat, "Call it so many times in a row, show percentiles")
      ->check(CLI::Range(1, 1'000'000))
      ->excludes(async);
  add_server(*command, options->server);
  command->callback([options, &status] { status = invoke_command(*options); });
}

void add_requests(CLI::App& app, int& status) {
  auto options = std::make_shared<RequestsOptions>();
  CLI::App* command = app.add_subcommand("requests", "The newest requests: start, duration, state, slack, cost");
  command->add_option("ID", options->id, "Show this request, and what it answered if it was asynchronous");
  command->add_option("--application", options->application, "Of this application only");
  command->add_option("--state", options->state, "In this state only")
      ->check(CLI::IsMember({"running", "met", "late", "rejected", "failed", "cancelled"}));
  command->add_option("--limit", options->limit, "How many (default 30)")->check(CLI::Range(1, 1000));
  add_server(*command, options->server);
  command->callback([options, &status] { status = requests_command(*options); });
}

void add_trace(CLI::App& app, int& status) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand("trace", "One request against its deadline, stage by stage");
  command->add_option("ID", options->id, "A request; leading zeros may be left out")->required();
  command->add_flag("--log", options->log, "Also what the workers printed meanwhile");
  add_server(*command, options->server);
  command->callback([options, &status] { status = trace_command(*options); });
}

void add_keys(CLI::App& app, int& status) {
  CLI::App* keys = app.add_subcommand("keys", "Who may use a server: keys with a tenant and a role");
  keys->require_subcommand(1);
  auto options = std::make_shared<KeyOptions>();
  CLI::App* add = keys->add_subcommand("add", "Make a key and print it, once");
  add->add_option("NAME", options->name, "By which it is listed and revoked")->required();
  add->add_option("--tenant", options->tenant, "Whose it is (default: default)");
  add->add_option("--role", options->role,
                  "caller: calls models and reads its requests (default); deployer: also deploys and removes; "
                  "admin: everything")
      ->check(CLI::IsMember({"caller", "deployer", "admin"}));
  add_server(*add, options->server);
  add->callback([options, &status] { status = add_key_command(*options); });
  add_reader(*keys, status, "list", "All keys; not their texts, which nobody keeps", keys_command);
  CLI::App* revoke = keys->add_subcommand("revoke", "From now on it opens nothing");
  revoke->add_option("NAME", options->name, "A key")->required();
  add_server(*revoke, options->server);
  revoke->callback([options, &status] { status = revoke_key_command(*options); });
}

// A limit of a tenant: a number, or `none`.
std::optional<double> read_limit(const char* option, const std::string& text) {
  if (text == "none") return std::nullopt;
  if (const auto bytes = parse_bytes(text); bytes && std::string_view(option) == "--bytes") {
    return static_cast<double>(bytes->count());
  }
  const auto number = parse_double(text);
  if (number && *number >= 0) return number;
  const std::string problem = "'" + text + "' is no limit; write a number, or none";
  throw CLI::ValidationError(option, problem);  // tidy: allow(throw) how CLI11 is told
}

void add_limits(CLI::App& command, const std::shared_ptr<TenantOptions>& options) {
  const auto limit = [&](const char* option, const char* field, const char* what) {
    command.add_option_function<std::string>(
        option,
        [options, option, field](const std::string& text) { options->limits[field] = read_limit(option, text); }, what);
  };
  limit("--requests-per-second", "requests_per_second", "Arrivals, over a second; `none`: no limit");
  limit("--requests", "requests", "Requests taken and not answered");
  limit("--bytes", "bytes", "Inputs of those requests, e.g. 500MB");
  limit("--functions", "functions", "Functions of all its applications");
  limit("--vcpu", "vcpu", "vCPUs that its batches hold when a request arrives");
  limit("--vgpu", "vgpu", "GPU slices that its batches hold when a request arrives");
}

void add_tenants(CLI::App& app, int& status) {
  CLI::App* tenants = app.add_subcommand("tenants", "Who shares a server, and how much of it each may have");
  tenants->require_subcommand(1);
  add_reader(*tenants, status, "list", "All tenants and their limits", tenants_command);
  for (const bool is_new : {true, false}) {
    auto options = std::make_shared<TenantOptions>();
    options->add = is_new;
    CLI::App* command = tenants->add_subcommand(is_new ? "add" : "set", is_new ? "A new tenant" : "Other limits");
    command->add_option("NAME", options->name, "A tenant")->required();
    add_limits(*command, options);
    add_server(*command, options->server);
    command->callback([options, &status] { status = put_tenant_command(*options); });
  }
  auto options = std::make_shared<TenantOptions>();
  CLI::App* remove = tenants->add_subcommand("remove", "A tenant that has neither keys nor applications");
  remove->add_option("NAME", options->name, "A tenant")->required();
  add_server(*remove, options->server);
  remove->callback([options, &status] { status = remove_tenant_command(*options); });
}

void add_profile(CLI::App& app, int& status) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command = app.add_subcommand("profile", "Measure functions on this machine; Ctrl-C keeps what is measured");
  command->add_option("FILE", options->file, "An application or a list of functions")->required();
  command->add_option("--function", options->functions, "Functions, separated by commas (default: all)")
      ->delimiter(',');
  command->add_option_function<std::string>(
      "--budget", [options](const std::string& text) { options->budget = read_duration("--budget", text); },
      "Time for each function, e.g. 2m (default 1m)");
  command->add_option("--batch", options->batch, "Batches to measure (default 1,2,4,8,16)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, limits::batch_max));
  command->add_option("--vcpu", options->vcpu, "vCPUs to measure (default 1,2)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, limits::vcpu_max));
  command->add_option("--out", options->out, "Folder for FUNCTION.csv (default profiles)");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &status] { status = profile_command(*options); });
}

void add_doctor(CLI::App& app, int& status) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Whether this machine has what a server needs, and what would help");
  add_server(*command, options->server);
  command->add_option("--data", options->data, "The server's data directory (default: $SLUICE_DATA, else sluice-data)");
  command->callback([options, &status] { status = doctor_command(*options); });
}

}  // namespace

void add_live_commands(CLI::App& app, int& status) {
  add_deploy(app, status);
  add_reader(app, status, "apps", "What is deployed, and how its requests fared", apps_command);
  add_remove(app, status);
  add_versions(app, status);
  add_invoke(app, status);
  add_requests(app, status);
  add_trace(app, status);
  add_keys(app, status);
  add_tenants(app, status);
  add_reader(app, status, "status", "The server: scheduler, load, objects, workers", status_command);
  add_reader(app, status, "nodes", "Its machines, what is enforced on them, their instances", nodes_command);
  add_profile(app, status);
  add_doctor(app, status);
}

}  // namespace sluice::cli
