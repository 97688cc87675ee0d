// `sluice trace`: one request against its deadline, stage by stage.
#include <fmt/format.h>

#include "cli/gantt.h"
#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/request_text.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "data/clock.h"

namespace sluice::cli {
namespace {

using data::Json;

// "batch 3 of 4, 2 vCPU, 1 vGPU, node 0, cold": what there is to say.
std::string beside(const Json& stage) {
  std::string out;
  if (maybe_number_at(stage, "start_ms")) {
    out = fmt::format("batch {} of {}, {} vCPU", whole_at(stage, "members"), whole_at(stage, "batch"),
                      whole_at(stage, "vcpu"));
    if (whole_at(stage, "vgpu") > 0) out += fmt::format(", {} vGPU", whole_at(stage, "vgpu"));
    out += fmt::format(", node {}", whole_at(stage, "invoker"));
  }
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (text_at(stage, "function") != text_at(stage, "stage")) add(text_at(stage, "function"));
  if (flag_at(stage, "cold")) add("cold");
  if (whole_at(stage, "attempt") > 0) add(fmt::format("attempt {}", whole_at(stage, "attempt") + 1));
  if (!text_at(stage, "error").empty()) add(red("error: ") + text_at(stage, "error"));
  return out;
}

Gantt picture(const Json& trace) {
  Gantt out{.deadline_ms = number_at(trace, "deadline_ms")};
  const double now_ms = static_cast<double>(data::now().count_ns()) / 1e6;
  out.until_ms = maybe_number_at(trace, "latency_ms").value_or(now_ms - number_at(trace, "arrived_ms"));
  for (const Json& stage : items_at(trace, "stages")) {
    out.stages.push_back({.name = text_at(stage, "stage"),
                          .ready_ms = number_at(stage, "ready_ms"),
                          .start_ms = maybe_number_at(stage, "start_ms"),
                          .end_ms = maybe_number_at(stage, "end_ms"),
                          .cold = flag_at(stage, "cold"),
                          .beside = beside(stage)});
  }
  return out;
}

void print_log(const Json& trace) {
  bool any = false;
  for (const Json& stage : items_at(trace, "stages")) {
    for (const Json& line : items_at(stage, "log")) {
      const auto* text = line.as<std::string>();
      if (text == nullptr) continue;
      fmt::print("{}  {}: {}\n", any ? "" : "\n", text_at(stage, "stage"), *text);
      any = true;
    }
  }
  if (!any) fmt::print("\n  its workers printed nothing\n");
}

}  // namespace

int trace_command(const TraceOptions& options) {
  const auto server = find_server(options.server);
  if (!server) return failed(server.error().message);
  const auto answer = ask(**server, {.target = fmt::format("/v1/requests/{}/trace", full_id(options.id))});
  if (!answer) return failed(answer.error().message);
  if (options.server.json) {
    fmt::print("{}\n", answer->text);
    return 0;
  }
  fmt::print("{}{}\n", heading(answer->json), kGanttLegend);
  fmt::print("{}", gantt(picture(answer->json)));
  if (options.log) print_log(answer->json);
  return 0;
}

}  // namespace sluice::cli
