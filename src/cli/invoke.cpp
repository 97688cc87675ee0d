// `sluice invoke`: one call of an application, or several in a row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/invoke_inputs.h"
#include "cli/invoke_outputs.h"
#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/oip.h"
#include "cli/progress.h"
#include "cli/request_text.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "data/clock.h"

namespace sluice::cli {
namespace {

using data::Json;
using engine::OwnTensor;

struct Answered {
  client::HttpResponse response;
  double ms = 0;  // as seen from here
};

Result<Answered> timed(client::HttpClient& server, const client::HttpRequest& request) {
  const Time begin = data::now();
  auto response = server.send(request);
  if (!response) return response.error();
  return Answered{std::move(*response), (data::now() - begin).to_ms()};
}

std::string id_of(const client::HttpResponse& response) {
  const std::string* id = response.header("sluice-request-id");
  return id == nullptr ? "" : *id;
}

// "in 12.3 ms, SLO 420 ms: met, slack 408 ms; request ID", as far as the server tells.
std::string latency_text(client::HttpClient& server, const Answered& answered) {
  const std::string id = id_of(answered.response);
  std::string out = fmt::format("in {}", ms_text(answered.ms));
  if (id.empty()) return out;
  const auto record = ask(server, {.target = "/v1/requests/" + full_id(id)});
  const auto slo = record ? maybe_number_at(record->json, "slo_ms") : std::nullopt;
  if (slo) {
    const double ms = maybe_number_at(record->json, "latency_ms").value_or(answered.ms);
    const double slack = *slo - ms;
    out = fmt::format("in {}, SLO {}: {}", ms_text(ms), ms_text(*slo),
                      slack >= 0 ? green(fmt::format("met, slack {}", ms_text(slack)))
                                 : red(fmt::format("late by {}", ms_text(-slack))));
  }
  return out + fmt::format("; request {}", id);
}

int show_accepted(const InvokeOptions& options, const client::HttpResponse& response) {
  const auto json = data::parse_json(response.body);
  const std::string id = json ? text_at(*json, "id") : "";
  fmt::print("{} accepted request {} of {}\n", green("ok:"), id, options.application);
  fmt::print("  sluice requests {}   its state and outputs\n  sluice trace {}      its stages\n", id, id);
  return 0;
}

int write_outputs(const InvokeOptions& options, const std::vector<OwnTensor>& outputs) {
  for (const std::string& assignment : options.outputs) {
    const auto written = write_output(assignment, outputs);
    if (!written) return failed(written.error().message);
    fmt::print("  {}\n", *written);
  }
  return 0;
}

int once(const InvokeOptions& options, client::HttpClient& server, const client::HttpRequest& request) {
  const auto answered = timed(server, request);
  if (!answered) return failed(answered.error().message);
  const client::HttpResponse& response = answered->response;
  if (!response.ok()) {
    const std::string id = id_of(response);
    return failed(refusal(response) + (id.empty() ? "" : fmt::format("; request {}", id)));
  }
  if (options.server.json) {
    fmt::print("{}\n", response.body);
    return 0;
  }
  if (options.asynchronous) return show_accepted(options, response);
  const auto outputs = outputs_of(response);
  if (!outputs) return failed(outputs.error().message);
  fmt::print("{} {} answered {}\n{}", green("ok:"), options.application, latency_text(server, *answered),
             outputs_text(*outputs));
  return write_outputs(options, *outputs);
}

double percentile(const std::vector<double>& sorted, double p) {
  const auto rank = static_cast<std::size_t>(std::ceil(p / 100 * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

// Calls in a row on one connection; times as seen from here.
int repeatedly(const InvokeOptions& options, client::HttpClient& server, const client::HttpRequest& request) {
  std::vector<double> times;
  std::string refused;
  std::vector<OwnTensor> last;
  {
    Progress progress("invoking " + options.application, static_cast<std::uint64_t>(options.repeat));
    for (int i = 0; i < options.repeat; ++i, progress.add(1)) {
      auto answered = timed(server, request);
      if (!answered) return failed(answered.error().message);
      if (!answered->response.ok()) {
        refused = refusal(answered->response);
        continue;
      }
      times.push_back(answered->ms);
      if (auto outputs = outputs_of(answered->response)) last = std::move(*outputs);
    }
  }
  const std::size_t missing = static_cast<std::size_t>(options.repeat) - times.size();
  if (!times.empty()) {
    std::sort(times.begin(), times.end());
    fmt::print("{} {} of {} calls of {} answered: p50 {}, p95 {}, p99 {}, most {}\n", green("ok:"), times.size(),
               options.repeat, options.application, ms_text(percentile(times, 50)), ms_text(percentile(times, 95)),
               ms_text(percentile(times, 99)), ms_text(times.back()));
    if (const int status = write_outputs(options, last); status != 0) return status;
  }
  return missing == 0 ? 0 : failed(fmt::format("{} were not, the last one: {}", missing, refused));
}

}  // namespace

int invoke_command(const InvokeOptions& options) {
  const auto server = find_server(options.server);
  if (!server) return failed(server.error().message);
  const auto metadata = ask(**server, {.target = "/v2/models/" + client::url_encoded(options.application)});
  if (!metadata) return failed(metadata.error().message);
  const auto declared = inputs_of(metadata->json);
  if (!declared) return failed(declared.error().message);
  const auto inputs =
      make_inputs({.data = options.data, .inputs = options.inputs, .images = options.images}, *declared);
  if (!inputs) return failed(inputs.error().message);
  const client::HttpRequest request = infer_request({.model = options.application,
                                                     .slo_ms = options.slo_ms,
                                                     .asynchronous = options.asynchronous,
                                                     .binary = !options.server.json},
                                                    *inputs);
  return options.repeat > 1 ? repeatedly(options, **server, request) : once(options, **server, request);
}

}  // namespace sluice::cli
