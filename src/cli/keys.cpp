// `sluice keys` and `sluice tenants`.
#include <fmt/format.h>

#include <array>

#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "cli/units.h"

namespace sluice::cli {
namespace {

// How the API, the command line and the table call a limit.
constexpr std::array<const char*, 6> kLimits = {"requests_per_second", "requests", "bytes",
                                                "functions",           "vcpu",     "vgpu"};

// Asks, and prints the server's JSON or what `print` makes of it.
template <class Print>
int exchange(const ServerOptions& options, const client::HttpRequest& request, Print print) {
  const auto server = find_server(options);
  if (!server) return failed(server.error().message);
  const auto answer = ask(**server, request);
  if (!answer) return failed(answer.error().message);
  options.json ? fmt::print("{}\n", answer->text) : print(answer->json);
  return 0;
}

void print_keys(const data::Json& answer) {
  Table table({"key", "tenant", "role", "made"});
  for (const data::Json& key : items_at(answer, "keys")) {
    const auto made = maybe_number_at(key, "made_ms");
    table.add({text_at(key, "name"), text_at(key, "tenant"), text_at(key, "role"),
               made ? instant_text(*made) : "the file DATA/key"});
  }
  fmt::print("{}", table.text());
}

void print_tenants(const data::Json& answer) {
  std::vector<std::string> header = {"tenant"};
  header.insert(header.end(), kLimits.begin(), kLimits.end());
  Table table(std::move(header));
  for (const data::Json& tenant : items_at(answer, "tenants")) {
    std::vector<std::string> row = {text_at(tenant, "name")};
    for (const char* limit : kLimits) {
      const auto number = maybe_number_at(tenant, limit);
      row.push_back(number ? fmt::format("{:g}", *number) : "-");
    }
    table.add(std::move(row));
  }
  fmt::print("{}", table.text());
}

std::string body_of(const TenantOptions& options) {
  data::JsonObject body{{"name", {options.name}}};
  for (const auto& [limit, value] : options.limits) {
    body.push_back({limit, value ? data::Json{*value} : data::Json{nullptr}});
  }
  return data::to_text({std::move(body)});
}

}  // namespace

int keys_command(const ServerOptions& options) {
  return exchange(options, {.target = "/v1/keys"}, print_keys);
}

int add_key_command(const KeyOptions& options) {
  const data::JsonObject body{{"name", {options.name}}, {"tenant", {options.tenant}}, {"role", {options.role}}};
  return exchange(options.server, {.method = "POST", .target = "/v1/keys", .body = data::to_text({body})},
                  [](const data::Json& made) {
                    fmt::print("{} key '{}' of tenant '{}', role {}; it is shown only once:\n{}\n", green("ok:"),
                               text_at(made, "name"), text_at(made, "tenant"), text_at(made, "role"),
                               text_at(made, "key"));
                  });
}

int revoke_key_command(const KeyOptions& options) {
  return exchange(
      options.server, {.method = "DELETE", .target = "/v1/keys/" + client::url_encoded(options.name)},
      [](const data::Json& done) { fmt::print("{} revoked {}\n", green("ok:"), text_at(done, "revoked")); });
}

int tenants_command(const ServerOptions& options) {
  return exchange(options, {.target = "/v1/tenants"}, print_tenants);
}

int put_tenant_command(const TenantOptions& options) {
  const std::string target = options.add ? "/v1/tenants" : "/v1/tenants/" + client::url_encoded(options.name);
  return exchange(
      options.server, {.method = "POST", .target = target, .body = body_of(options)}, [&](const data::Json& tenant) {
        fmt::print("{} {} tenant '{}'\n", green("ok:"), options.add ? "added" : "set", text_at(tenant, "name"));
      });
}

int remove_tenant_command(const TenantOptions& options) {
  return exchange(
      options.server, {.method = "DELETE", .target = "/v1/tenants/" + client::url_encoded(options.name)},
      [](const data::Json& done) { fmt::print("{} removed tenant {}\n", green("ok:"), text_at(done, "removed")); });
}

}  // namespace sluice::cli
