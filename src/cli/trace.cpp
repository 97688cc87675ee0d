// `sluice trace`: one request against its deadline, stage by stage.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "cli/gantt.h"
#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/request_text.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "data/clock.h"

namespace sluice::cli {
namespace {

using data::Json;

// " (GPU 0: 4-7)", where it is known: slices of a batch are side by side.
std::string slices(const Json& stage) {
  const auto held = items_at(stage, "slices");
  if (held.empty()) return "";
  const auto number = [](const Json& slice) {
    const auto* value = slice.as<std::int64_t>();
    return value == nullptr ? 0 : *value;
  };
  const std::int64_t first = number(held.front()), last = number(held.back());
  return fmt::format(" (GPU {}: {})", whole_at(stage, "gpu"),
                     first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
}

// "batch 3 of 4, 2 vCPU, 1 vGPU (GPU 0: 3), node 0, cold": what there is to say.
std::string beside(const Json& stage) {
  std::string out;
  if (maybe_number_at(stage, "start_ms")) {
    out = fmt::format("batch {} of {}, {} vCPU", whole_at(stage, "members"), whole_at(stage, "batch"),
                      whole_at(stage, "vcpu"));
    if (whole_at(stage, "vgpu") > 0) out += fmt::format(", {} vGPU{}", whole_at(stage, "vgpu"), slices(stage));
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
                          .load_ms = number_at(object_at(stage, "waited"), "load_ms"),
                          .beside = beside(stage)});
  }
  return out;
}

// "8.1 ms for company, 4 ms for free vCPUs".
std::string waited_for(const Json& stage) {
  constexpr double kWorthSayingMs = 0.1;
  const Json& waited = object_at(stage, "waited");
  const std::array<std::pair<const char*, const char*>, 4> kinds = {
      {{"retry_ms", "to try again"},
       {"load_ms", "for its function to load"},
       {"company_ms", "for company"},
       {"room_ms", whole_at(stage, "vgpu") > 0 ? "for free vCPUs and slices" : "for free vCPUs"}}};
  std::string out;
  for (const auto& [field, words] : kinds) {
    const double ms = number_at(waited, field);
    if (ms >= kWorthSayingMs) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", ms_text(ms), words);
  }
  return out;
}

// "the cheapest of 14 configurations with 182 ms left; 2 cheaper ones found no room".
std::string why(const Json& stage) {
  const Json& reason = object_at(stage, "why");
  const auto considered = maybe_number_at(reason, "considered");
  if (!considered) return "";
  const double left = number_at(reason, "left_ms");
  const std::int64_t no_room = whole_at(reason, "no_room");
  std::string out = *considered == 1 ? std::string("the only configuration")
                                     : fmt::format("the cheapest of {} configurations", *considered);
  out += left >= 0 ? fmt::format(" with {} left", ms_text(left)) : fmt::format(", {} late", ms_text(-left));
  if (no_room > 0) out += fmt::format("; {} cheaper {} found no room", no_room, no_room == 1 ? "one" : "ones");
  return out;
}

// Milliseconds of every stage, and what they went to.
std::string times(const Json& trace) {
  Table table({"stage", "queue", "load", "run", "waited", "why"});
  for (const Json& stage : items_at(trace, "stages")) {
    const auto start = maybe_number_at(stage, "start_ms"), end = maybe_number_at(stage, "end_ms");
    const double load = number_at(object_at(stage, "waited"), "load_ms");
    const auto shown = [](std::optional<double> ms) { return ms ? ms_text(*ms) : "–"; };
    table.add({text_at(stage, "stage"),
               shown(start ? std::optional(*start - number_at(stage, "ready_ms") - load) : std::nullopt),
               load > 0 ? ms_text(load) : "–", shown(start && end ? std::optional(*end - *start) : std::nullopt),
               waited_for(stage), why(stage)});
  }
  return table.text("  ");
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
  if (!items_at(answer->json, "stages").empty()) fmt::print("\n{}", times(answer->json));
  if (options.log) print_log(answer->json);
  return 0;
}

}  // namespace sluice::cli
