#include "reproduce/foreign_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "plan/workflow_model.h"
#include "workload/azure_llm.h"
#include "workload/minute_trace.h"
#include "workload/stream.h"

namespace sluice::reproduce {
namespace {

constexpr std::size_t kBusiestMinutes = 60;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// What a trace asks for in each minute.
struct Asked {
  std::vector<double> requests, slice_seconds;
};

Asked asked_by(const workload::AzureFunctions& trace, const std::vector<double>& slice_seconds) {
  Asked out{std::vector<double>(trace.minutes), std::vector<double>(trace.minutes)};
  for (const workload::FunctionCounts& row : trace.rows) {
    const double each = slice_seconds[workload::application_by_hash(row.function, slice_seconds.size())];
    for (std::size_t m = 0; m < trace.minutes; ++m) {
      out.requests[m] += row.minutes[m];
      out.slice_seconds[m] += each * row.minutes[m];
    }
  }
  return out;
}

// Where the busiest hour begins; the earliest of equal ones.
std::size_t busiest_minute(const std::vector<double>& requests) {
  const std::size_t length = std::min(kBusiestMinutes, requests.size());
  double sum = std::accumulate(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(length), 0.0);
  double most = sum;
  std::size_t best = 0;
  for (std::size_t first = 1; first + length <= requests.size(); ++first) {
    sum += requests[first + length - 1] - requests[first - 1];
    if (sum > most) {
      most = sum;
      best = first;
    }
  }
  return best;
}

// The minutes of a stream's piece, in the order in which they are played.
std::vector<std::size_t> minutes_of(const Asked& asked, const Target& target, std::uint64_t stream) {
  const std::size_t all = asked.requests.size();
  const double each = mean(asked.slice_seconds) / mean(asked.requests);
  const double wanted = static_cast<double>(target.requests + target.warmup) * each / (target.slices * 60);
  const auto length = static_cast<std::size_t>(std::clamp(std::round(wanted), 1.0, static_cast<double>(all)));
  const std::size_t first = (busiest_minute(asked.requests) + static_cast<std::size_t>(stream % all) * length) % all;
  std::vector<std::size_t> out(length);
  for (std::size_t i = 0; i < length; ++i) out[i] = (first + i) % all;
  return out;
}

std::string csv_of(const workload::AzureFunctions& trace, const std::vector<std::size_t>& minutes) {
  std::string out = "HashOwner,HashApp,HashFunction,Trigger";
  for (std::size_t i = 0; i < minutes.size(); ++i) out += str(',', i);
  for (const workload::FunctionCounts& row : trace.rows) {
    out += str("\n-,-,", row.function, ",-");
    for (const std::size_t minute : minutes) out += str(',', row.minutes[minute]);
  }
  return out + '\n';
}

// The header and the first `rows` rows of an LLM trace, with one token each.
std::string times_only(std::string_view text, std::size_t rows) {
  std::string out;
  for (std::size_t line = 0; line <= rows && !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    out += line == 0 ? str(content) : str(content.substr(0, content.find(',')), ",1,1");
    out += '\n';
    ++line;
  }
  return out;
}

}  // namespace

Result<std::vector<double>> slice_seconds(const Experiment& experiment) {
  std::vector<double> out;
  for (const Application& application : experiment.applications) {
    const auto profiles = plan::make_profiles(application);
    if (!profiles) return Error{profiles.error().code, str(application.name, ": ", profiles.error().message)};
    double ms = 0;
    for (const Stage& stage : application.workflow.stages) {
      if (stage.kind == Stage::Kind::run)
        ms += (*profiles)[stage.function.index()].latency(configuration(1, 1, 1)).mean_ms;
    }
    out.push_back(ms / 1000);
  }
  return out;
}

double slices_of(const Cluster& cluster) {
  double out = 0;
  for (const NodeGroup& node : cluster.nodes) out += static_cast<double>(node.count) * node.gpus * node.slices_per_gpu;
  return out;
}

Result<Piece> piece_of_minutes(const workload::AzureFunctions& trace, const Target& target, std::uint64_t stream) {
  CHECK(trace.ok() && target.slices > 0 && !target.slice_seconds.empty());
  const Asked asked = asked_by(trace, target.slice_seconds);
  if (mean(asked.requests) <= 0) return Error{ErrorCode::invalid, "every count of the trace is 0"};
  const std::vector<std::size_t> minutes = minutes_of(asked, target, stream);
  double requests = 0, slice_seconds = 0;
  for (const std::size_t minute : minutes) {
    requests += asked.requests[minute];
    slice_seconds += asked.slice_seconds[minute];
  }
  if (slice_seconds <= 0) return Error{ErrorCode::invalid, str("the trace has no requests in minute ", minutes[0])};
  const double scale = target.slices * 60 * static_cast<double>(minutes.size()) / slice_seconds;
  auto count = static_cast<std::uint64_t>(std::llround(requests * scale));
  if (minutes.size() == 1) count = std::min(count, target.requests + target.warmup);
  if (count <= target.warmup) {
    return Error{ErrorCode::invalid,
                 str("a piece of the trace has ", count, " requests, no more than the warm-up of ", target.warmup)};
  }
  return Piece{
      .workload = {.arrivals =
                       Trace{.format = TraceFormat::azure_functions_2019, .file = "piece.csv", .rate_scale = scale},
                   .requests = count - target.warmup,
                   .warmup = target.warmup},
      .trace_text = csv_of(trace, minutes)};
}

workload::AzureFunctions without(workload::AzureFunctions trace, const workload::AzureFunctions& others) {
  std::set<std::string_view> names;
  for (const workload::FunctionCounts& row : others.rows) names.insert(row.function);
  std::erase_if(trace.rows, [&](const workload::FunctionCounts& row) { return names.contains(row.function); });
  return trace;
}

Result<Piece> piece_of_requests(std::string_view llm_trace, const Target& target) {
  CHECK(target.slices > 0 && !target.slice_seconds.empty());
  const workload::AzureLlm trace = workload::read_azure_llm(llm_trace);
  if (!trace.ok()) return Error{ErrorCode::invalid, describe(trace.errors, "the trace")};
  const std::uint64_t count = std::min<std::uint64_t>(trace.rows.size(), target.requests + target.warmup);
  if (count <= target.warmup || count < 2) {
    return Error{ErrorCode::invalid,
                 str("the trace has ", trace.rows.size(), " requests; a warm-up of ", target.warmup, " leaves none")};
  }
  const double span_s = (trace.rows[count - 1].at - trace.rows.front().at).to_s();
  const double wanted_s = static_cast<double>(count) * mean(target.slice_seconds) / target.slices;
  if (span_s <= 0) return Error{ErrorCode::invalid, "all requests of the trace come at one instant"};
  return Piece{.workload = {.arrivals = Trace{.format = TraceFormat::azure_llm_2023,
                                              .file = "piece.csv",
                                              .time_scale = wanted_s / span_s},
                            .requests = count - target.warmup,
                            .warmup = target.warmup},
               .trace_text = times_only(llm_trace, count)};
}

Piece poisson_piece(const Target& target) {
  return {.workload = {.arrivals = Poisson{target.slices / mean(target.slice_seconds)},
                       .requests = target.requests,
                       .warmup = target.warmup},
          .trace_text = {}};
}

Result<double> offered_slice_load(const Experiment& experiment, std::uint64_t seed, std::string_view trace_text) {
  const auto each = slice_seconds(experiment);
  if (!each) return each.error();
  std::vector<std::string> names;
  for (const Application& application : experiment.applications) names.push_back(application.name);
  auto stream = workload::ArrivalStream::make(experiment.workload, names, seed, trace_text);
  if (!stream) return stream.error();
  double sum = 0;
  std::optional<Duration> first;
  Duration last;
  while (const auto arrival = stream->next()) {
    sum += (*each)[arrival->application];
    if (!first) first = arrival->at;
    last = arrival->at;
  }
  const double span_s = first ? (last - *first).to_s() : 0;
  if (span_s <= 0) return Error{ErrorCode::invalid, "the requests come at one instant"};
  return sum / span_s / slices_of(experiment.cluster);
}

}  // namespace sluice::reproduce
