// `sluice apps`, `sluice remove`, `sluice promote` and `sluice rollback`.
#include <fmt/format.h>

#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "cli/units.h"

namespace sluice::cli {
namespace {

std::string objective_text(const data::Json& application) {
  const auto percentile = maybe_number_at(application, "percentile");
  const std::string latency = ms_text(number_at(application, "slo_ms"));
  return percentile ? fmt::format("{} p{:g}", latency, *percentile) : latency;
}

std::string profiled_text(const data::Json& function) {
  const std::string state = text_at(function, "profiled");
  if (state == "waiting") return "waits for its first request";
  if (state == "measuring") return "being measured";
  if (state == "document") return "in its document";
  return state;
}

std::string loaded_text(const data::Json& function) {
  std::string out;
  for (const data::Json& node : items_at(function, "loaded")) {
    if (const auto* name = node.as<std::string>()) out += (out.empty() ? "" : ", ") + *name;
  }
  const data::Json& gpu = object_at(function, "gpu");
  if (maybe_number_at(gpu, "number")) {
    out += fmt::format(" (GPU {}, {}", whole_at(gpu, "number"), text_at(gpu, "precision"));
    out += flag_at(gpu, "kernel_by_kernel") ? ", kernel by kernel: it cannot be recorded)"
                                            : fmt::format(", {} graphs)", whole_at(gpu, "graphs"));
  }
  return out.empty() ? "none" : out;
}

// What `sluice rollback` may go back to.
std::string kept_text(const data::Json& application) {
  std::string versions;
  for (const data::Json& version : items_at(application, "versions")) {
    const auto* number = version.as<std::int64_t>();
    if (number != nullptr && *number != whole_at(application, "version")) versions += fmt::format(" {}", *number);
  }
  return versions.empty() ? "" : fmt::format("{}: kept versions:{}\n", text_at(application, "name"), versions);
}

void print_functions(std::span<const data::Json> applications) {
  Table table({"function", "runtime", "profiled", "loaded"});
  bool any = false;
  for (const data::Json& application : applications) {
    for (const data::Json& function : items_at(application, "functions")) {
      any = true;
      table.add({fmt::format("{}.{}", text_at(application, "name"), text_at(function, "name")),
                 text_at(function, "runtime"), profiled_text(function), loaded_text(function)});
    }
  }
  if (any) fmt::print("\n{}", table.text());
}

void print(std::span<const data::Json> applications) {
  if (applications.empty()) {
    fmt::print("{} nothing is deployed; start with `sluice deploy FILE`\n", green("ok:"));
    return;
  }
  Table table({"application", "version", "status", "SLO", "met", "late", "rejected", "failed"});
  std::string reasons;
  for (const data::Json& application : applications) {
    const data::Json& requests = object_at(application, "requests");
    std::vector<std::string> row = {text_at(application, "name"), fmt::format("{}", whole_at(application, "version")),
                                    text_at(application, "state"), objective_text(application)};
    for (const char* outcome : {"met", "late", "rejected", "failed"})
      row.push_back(fmt::format("{}", whole_at(requests, outcome)));
    table.add(std::move(row));
    const std::string reason = text_at(application, "reason");
    const data::Json& canary = object_at(application, "canary");
    if (const auto percent = maybe_number_at(canary, "percent")) {
      const data::Json& calls = object_at(canary, "requests");
      reasons +=
          fmt::format("{}: version {} is a canary with {:g} % of the calls: {} met, {} late, {} rejected, {} failed\n",
                      text_at(application, "name"), whole_at(canary, "version"), *percent, whole_at(calls, "met"),
                      whole_at(calls, "late"), whole_at(calls, "rejected"), whole_at(calls, "failed"));
    }
    if (!reason.empty()) reasons += fmt::format("{}: {}\n", text_at(application, "name"), reason);
    reasons += kept_text(application);
  }
  fmt::print("{}", table.text());
  print_functions(applications);
  fmt::print("{}{}", reasons.empty() ? "" : "\n", reasons);
}

int change_version(const VersionOptions& options, const std::string& what) {
  const auto server = find_server(options.server);
  if (!server) return failed(server.error().message);
  const std::string version = options.version ? fmt::format("?version={}", *options.version) : "";
  const auto answer =
      ask(**server,
          {.method = "POST",
           .target = fmt::format("/v1/applications/{}/{}{}", client::url_encoded(options.application), what, version),
           .timeout = Duration::s(600)});
  if (!answer) return failed(answer.error().message);
  if (options.server.json)
    fmt::print("{}\n", answer->text);
  else
    fmt::print("{} version {} of {} serves all calls\n", green("ok:"), whole_at(answer->json, "version"),
               text_at(answer->json, "application"));
  return 0;
}

}  // namespace

int promote_command(const VersionOptions& options) {
  return change_version(options, "promote");
}

int rollback_command(const VersionOptions& options) {
  return change_version(options, "rollback");
}

int apps_command(const ServerOptions& options) {
  const auto server = find_server(options);
  if (!server) return failed(server.error().message);
  const auto answer = ask(**server, {.target = "/v1/applications"});
  if (!answer) return failed(answer.error().message);
  if (options.json)
    fmt::print("{}\n", answer->text);
  else
    print(items_at(answer->json, "applications"));
  return 0;
}

int remove_command(const RemoveOptions& options) {
  const auto server = find_server(options.server);
  if (!server) return failed(server.error().message);
  const auto answer =
      ask(**server, {.method = "DELETE", .target = "/v1/applications/" + client::url_encoded(options.application)});
  if (!answer) return failed(answer.error().message);
  if (options.server.json)
    fmt::print("{}\n", answer->text);
  else
    fmt::print("{} removed {}\n", green("ok:"), text_at(answer->json, "removed"));
  return 0;
}

}  // namespace sluice::cli
