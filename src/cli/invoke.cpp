// `sluice invoke`: one call of an application, or several in a row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

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
struct Repeated {
  std::vector<double> times;                   // of those that were answered, in milliseconds; later sorted
  std::vector<std::string> ids;                // of those
  std::size_t late = 0;                        // of those, as the server says
  std::map<std::string, std::size_t> refused;  // the others, by their code
  std::string last_refusal;
  std::vector<OwnTensor> last;  // outputs
  [[nodiscard]] std::size_t missing() const {
    std::size_t out = 0;
    for (const auto& [kind, count] : refused) out += count;
    return out;
  }
};

// "OVERLOADED", or "HTTP 404" where the server has no word for it.
std::string kind_of(const client::HttpResponse& refused) {
  const auto json = data::parse_json(refused.body);
  const std::string code = json ? text_at(*json, "code") : "";
  return code.empty() ? fmt::format("HTTP {}", refused.status) : code;
}

Result<Repeated> call_repeatedly(const InvokeOptions& options, client::HttpClient& server,
                                 const client::HttpRequest& request) {
  Repeated out;
  Progress progress("invoking " + options.application, static_cast<std::uint64_t>(options.repeat));
  for (int i = 0; i < options.repeat; ++i, progress.add(1)) {
    auto answered = timed(server, request);
    if (!answered) return answered.error();
    if (!answered->response.ok()) {
      out.last_refusal = refusal(answered->response);
      ++out.refused[kind_of(answered->response)];
      continue;
    }
    out.times.push_back(answered->ms);
    out.ids.push_back(id_of(answered->response));
    if (auto outputs = outputs_of(answered->response)) out.last = std::move(*outputs);
  }
  return out;
}

// Asked when all calls are over, so that it does not come between them.
void count_late(client::HttpClient& server, Repeated& repeated) {
  Progress progress("asking which were in time", repeated.ids.size());
  for (const std::string& id : repeated.ids) {
    progress.add(1);
    if (id.empty()) continue;
    const auto record = ask(server, {.target = "/v1/requests/" + full_id(id)});
    if (record && text_at(record->json, "state") == "late") ++repeated.late;
  }
}

// "missed 4: 1 late, 2 OVERLOADED, 1 STAGE_FAILED".
std::string misses_text(const Repeated& repeated) {
  const std::size_t missed = repeated.late + repeated.missing();
  if (missed == 0) return "missed none";
  std::string out = fmt::format("missed {}: ", missed);
  if (repeated.late > 0) out += fmt::format("{} late", repeated.late);
  for (const auto& [kind, count] : repeated.refused)
    out += fmt::format("{}{} {}", out.ends_with(": ") ? "" : ", ", count, kind);
  return out;
}

constexpr std::array kPercentiles = {50.0, 95.0, 99.0};

std::string repeated_json(const InvokeOptions& options, const Repeated& repeated) {
  data::JsonObject latency, refused;
  const auto add_latency = [&](std::string name, double ms) { latency.push_back({std::move(name), Json{ms}}); };
  if (!repeated.times.empty()) {
    for (const double p : kPercentiles) add_latency(fmt::format("p{}", p), percentile(repeated.times, p));
    add_latency("max", repeated.times.back());
  }
  const auto whole = [](std::size_t count) { return Json{static_cast<std::int64_t>(count)}; };
  for (const auto& [kind, count] : repeated.refused) refused.push_back({kind, whole(count)});
  return data::to_text(Json{data::JsonObject{{"application", Json{options.application}},
                                             {"calls", whole(static_cast<std::size_t>(options.repeat))},
                                             {"answered", whole(repeated.times.size())},
                                             {"late", whole(repeated.late)},
                                             {"refused", Json{std::move(refused)}},
                                             {"latency_ms", Json{std::move(latency)}},
                                             {"last_error", Json{repeated.last_refusal}}}});
}

int repeatedly(const InvokeOptions& options, client::HttpClient& server, const client::HttpRequest& request) {
  auto repeated = call_repeatedly(options, server, request);
  if (!repeated) return failed(repeated.error().message);
  count_late(server, *repeated);
  std::vector<double>& times = repeated->times;
  std::sort(times.begin(), times.end());
  if (options.server.json) {
    fmt::print("{}\n", repeated_json(options, *repeated));
    return repeated->missing() == 0 ? 0 : 1;
  }
  if (!times.empty()) {
    std::string shown;
    for (const double p : kPercentiles) shown += fmt::format("p{} {}, ", p, ms_text(percentile(times, p)));
    fmt::print("{} {} of {} calls of {} answered: {}most {}; {}\n", green("ok:"), times.size(), options.repeat,
               options.application, shown, ms_text(times.back()), misses_text(*repeated));
    if (const int status = write_outputs(options, repeated->last); status != 0) return status;
  }
  if (repeated->missing() == 0) return 0;
  return failed(fmt::format("{} were not{}, the last one: {}", repeated->missing(),
                            times.empty() ? fmt::format(" answered, {}", misses_text(*repeated)) : "",
                            repeated->last_refusal));
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
