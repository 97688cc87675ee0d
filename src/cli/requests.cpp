// `sluice requests`: what was called, how it ended, what it cost.
#include <fmt/format.h>

#include "cli/invoke_outputs.h"
#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/oip.h"
#include "cli/request_text.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "cli/units.h"

namespace sluice::cli {
namespace {

using data::Json;

std::string ms_or_dash(const Json& request, const char* key) {
  const auto ms = maybe_number_at(request, key);
  return ms ? ms_text(*ms) : "–";
}

void print(std::span<const Json> requests) {
  if (requests.empty()) {
    fmt::print("{} no requests; make one with `sluice invoke`\n", green("ok:"));
    return;
  }
  Table table({"time", "id", "application", "start", "duration", "state", "SLO", "slack", "cost"});
  for (const Json& request : requests) {
    const std::string state = text_at(request, "state");
    table.add({instant_text(number_at(request, "arrived_ms")), text_at(request, "id"), text_at(request, "application"),
               state == "rejected"        ? "–"
               : flag_at(request, "cold") ? "cold"
                                          : "warm",
               ms_or_dash(request, "latency_ms"), state, ms_or_dash(request, "slo_ms"), ms_or_dash(request, "slack_ms"),
               dollars_text(number_at(request, "cost_dollars"))});
  }
  fmt::print("{}", table.text());
}

std::string target_of(const RequestsOptions& options) {
  std::string out = fmt::format("/v1/requests?limit={}", options.limit);
  if (!options.application.empty()) out += "&application=" + client::url_encoded(options.application);
  if (!options.state.empty()) out += "&state=" + client::url_encoded(options.state);
  return out;
}

void print_one(const Json& request) {
  fmt::print("{}", heading(request));
  const double cost = number_at(request, "cost_dollars");
  fmt::print("  arrived {}, {} start, cost {}\n", instant_text(number_at(request, "arrived_ms")),
             flag_at(request, "cold") ? "cold" : "warm", dollars_text(cost));
  const Json* result = request.find("result");
  if (result == nullptr) return;
  if (result->as<std::nullptr_t>() != nullptr) {
    fmt::print("  its outputs are not kept any more\n");
    return;
  }
  const auto outputs = outputs_of(*result, "");
  fmt::print("{}", outputs ? outputs_text(*outputs) : fmt::format("  {}\n", outputs.error().message));
}

}  // namespace

int requests_command(const RequestsOptions& options) {
  const auto server = find_server(options.server);
  if (!server) return failed(server.error().message);
  const std::string target = options.id.empty() ? target_of(options) : "/v1/requests/" + full_id(options.id);
  const auto answer = ask(**server, {.target = target});
  if (!answer) return failed(answer.error().message);
  if (options.server.json)
    fmt::print("{}\n", answer->text);
  else if (options.id.empty())
    print(items_at(answer->json, "requests"));
  else
    print_one(answer->json);
  return 0;
}

}  // namespace sluice::cli
