// An experiment document of our YAML: what `sluice sim` runs.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

constexpr std::array<std::string_view, 7> kArrivals = {"uniform-gap", "poisson", "renewal", "on-off",
                                                       "diurnal",     "trace",   "listed"};
constexpr std::array<std::string_view, 2> kTraceFormats = {"azure-functions-2019", "azure-llm-2023"};
constexpr std::array<std::string_view, 2> kInstances = {"warm", "counted"};
constexpr std::array<std::string_view, 3> kSchedulerTimes = {"native", "paper", "none"};
constexpr std::array<std::string_view, 2> kBillings = {"held", "exec"};
constexpr std::array<std::string_view, 2> kNoiseLaws = {"normal", "log-normal"};
constexpr Range kRate{limits::rate_min, limits::rate_max};

template <class Enum, std::size_t N>
void read_choice(Fields& fields, std::string_view name, const std::array<std::string_view, N>& names, Enum& out) {
  if (auto field = fields.optional(name)) {
    if (auto choice = field->choice(names)) out = static_cast<Enum>(*choice);
  }
}

void read_rate(Fields& fields, double& rate) {
  if (auto field = fields.required("rate", "rate: 74.6 (requests per second)")) rate = field->number(kRate).value_or(1);
}

Duration required_duration(Fields& fields, std::string_view name) {
  const auto field = fields.required(name, str(name, ": 10s"));
  return field ? field->duration().value_or(Duration{}) : Duration{};
}

UniformGap read_gap(Fields& fields) {
  UniformGap out;
  const auto field = fields.required("gap", "gap: [10ms, 16.8ms]");
  if (!field) return out;
  const auto items = field->items();
  if (items.size() != 2) {
    if (field->node().kind == Node::Kind::sequence)
      field->error(str("has ", items.size(), " values; write [SHORTEST, LONGEST]"));
    return out;
  }
  out.low = items[0].duration().value_or(Duration{});
  out.high = items[1].duration().value_or(Duration{});
  if (out.high < out.low)
    field->error(str("the longest gap ", to_string(out.high), " is below the shortest ", to_string(out.low)));
  else if (out.high == Duration{})
    field->error("gaps of zero: all requests would come at once");
  return out;
}

OnOff read_on_off(Fields& fields) {
  OnOff out;
  if (auto field = fields.required("on_rate", "on_rate: 100 (requests per second)"))
    out.on_rate = field->number(kRate).value_or(1);
  if (auto field = fields.optional("off_rate")) out.off_rate = field->number({0, kRate.high}).value_or(0);
  out.on = required_duration(fields, "on");
  out.off = required_duration(fields, "off");
  if (fields.valid() && out.on == Duration{}) fields.error("`on` must be positive");
  return out;
}

Diurnal read_diurnal(Fields& fields) {
  Diurnal out;
  read_rate(fields, out.rate);
  if (auto field = fields.optional("amplitude")) out.amplitude = field->number({0, 1}).value_or(0);
  if (auto field = fields.optional("period")) {
    out.period = field->duration().value_or(out.period);
    if (out.period == Duration{}) field->error("is 0; a period is positive");
  }
  return out;
}

Listed read_listed(Fields& fields) {
  Listed out;
  const auto field = fields.required("at", "at: [0ms, 3ms, 10ms]");
  if (!field) return out;
  const auto items = field->items();
  if (items.empty() && field->node().kind == Node::Kind::sequence) field->error("is empty");
  if (items.size() > limits::listed_arrivals_max) {
    field->error(str("has ", items.size(), " instants; at most ", limits::listed_arrivals_max, " can be listed"));
    return out;
  }
  for (const Cursor& item : items) {
    const Duration at = item.duration().value_or(Duration{});
    if (!out.at.empty() && at < out.at.back())
      item.error(str(to_string(at), " comes after ", to_string(out.at.back()), "; list them in order"));
    out.at.push_back(at);
  }
  return out;
}

Trace read_trace(Fields& fields) {
  Trace out;
  if (auto field = fields.required("format", "format: azure-functions-2019")) {
    if (auto format = field->choice(kTraceFormats)) out.format = static_cast<TraceFormat>(*format);
  }
  if (auto field = fields.required("file", "file: invocations.csv")) {
    if (auto name = field->text()) out.file = beside(field->file(), *name);
  }
  constexpr Range kScale{limits::scale_min, limits::scale_max};
  if (auto field = fields.optional("time_scale")) out.time_scale = field->number(kScale).value_or(1);
  if (auto field = fields.optional("rate_scale")) out.rate_scale = field->number(kScale).value_or(1);
  if (auto field = fields.optional("mapping")) {
    for (const NamedCursor& entry : named_entries(*field)) out.mapping[entry.name] = entry.value.name().value_or("");
  }
  return out;
}

Arrivals read_arrivals(Fields& fields) {
  const auto field = fields.required("arrivals", "arrivals: poisson");
  const auto kind = field ? field->choice(kArrivals) : std::nullopt;
  if (!kind) return {};
  switch (*kind) {
    case 0:
      return read_gap(fields);
    case 1: {
      Poisson out;
      read_rate(fields, out.rate);
      return out;
    }
    case 2: {
      Renewal out;
      read_rate(fields, out.rate);
      if (auto cv = fields.required("cv", "cv: 2")) out.cv = cv->number({0, limits::gap_cv_max}).value_or(1);
      return out;
    }
    case 3:
      return read_on_off(fields);
    case 4:
      return read_diurnal(fields);
    case 5:
      return read_trace(fields);
    default:
      return read_listed(fields);
  }
}

std::map<std::string, double> read_mix(const Cursor& cursor) {
  std::map<std::string, double> out;
  if (cursor.node().kind == Node::Kind::scalar) {
    if (cursor.node().text != "uniform") cursor.error("is neither `uniform` nor a mapping of application to weight");
    return out;
  }
  for (const NamedCursor& entry : named_entries(cursor))
    out[entry.name] = entry.value.number({0, limits::mix_weight_max}).value_or(0);
  const bool any = std::any_of(out.begin(), out.end(), [](const auto& weight) { return weight.second > 0; });
  if (!any) cursor.error("no application has a positive weight");
  return out;
}

Workload read_workload(const Cursor& cursor) {
  Workload out;
  Fields fields(cursor);
  if (!fields.valid()) return out;
  out.arrivals = read_arrivals(fields);
  if (auto field = fields.optional("mix")) out.mix = read_mix(*field);
  const auto count = [&](std::string_view name, std::uint64_t& value, std::int64_t low) {
    if (auto field = fields.optional(name))
      value = static_cast<std::uint64_t>(field->integer(low, limits::experiment_requests_max).value_or(1));
  };
  count("requests", out.requests, 1);
  count("warmup", out.warmup, 0);
  fields.finish();
  return out;
}

std::vector<Slowdown> read_slowdowns(const Cursor& cursor) {
  std::vector<Slowdown> out;
  for (const Cursor& item : cursor.items(true)) {
    Fields fields(item);
    Slowdown slow;
    if (auto at = fields.required("at", "at: 20s")) slow.at = at->duration().value_or(Duration{});
    if (auto factor = fields.required("factor", "factor: 1.6")) slow.factor = factor->number({1, 1e6}).value_or(1);
    fields.finish();
    if (!out.empty() && slow.at <= out.back().at) item.error("comes no later than the one before it; they go by time");
    out.push_back(slow);
  }
  return out;
}

Noise read_noise(const Cursor& cursor) {
  Noise out;
  Fields fields(cursor);
  if (auto field = fields.optional("sigma")) out.sigma = field->number({0, 1}).value_or(0);
  if (auto field = fields.optional("straggler")) {
    Fields straggler(*field);
    if (auto value = straggler.optional("probability")) out.straggler_probability = value->number({0, 1}).value_or(0);
    if (auto value = straggler.optional("factor")) out.straggler_factor = value->number({1, 1e6}).value_or(1);
    straggler.finish();
  }
  read_choice(fields, "law", kNoiseLaws, out.law);
  if (auto field = fields.optional("drift")) {
    Fields drift(*field);
    if (auto value = drift.optional("per_minute")) out.drift_per_minute = value->number({0, 1e6}).value_or(0);
    if (auto value = drift.optional("max")) out.drift_max = value->number({0, 1e6}).value_or(1);
    drift.finish();
  }
  if (auto field = fields.optional("slow")) out.slow = read_slowdowns(*field);
  if (auto field = fields.optional("functions")) {
    for (const Cursor& item : field->items(true)) out.functions.push_back(item.name().value_or(""));
  }
  fields.finish();
  return out;
}

Transfer read_transfer(const Cursor& cursor) {
  Transfer out;
  Fields fields(cursor);
  if (auto field = fields.optional("local")) out.local_bytes_per_s = field->bytes_per_second().value_or(1);
  if (auto field = fields.optional("remote")) out.remote_bytes_per_s = field->bytes_per_second().value_or(1);
  if (auto field = fields.optional("local_delay")) out.local_delay = field->duration().value_or(Duration{});
  if (auto field = fields.optional("remote_delay")) out.remote_delay = field->duration().value_or(Duration{});
  fields.finish();
  return out;
}

// A number, or true and false as 1 and 0.
std::map<std::string, double> read_values(const Cursor& cursor) {
  std::map<std::string, double> out;
  for (const NamedCursor& entry : named_entries(cursor)) {
    const std::string& text = entry.value.node().text;
    const bool flag = text == "true" || text == "false";
    out[entry.name] = flag ? (text == "true" ? 1 : 0) : entry.value.number({-1e308, 1e308}).value_or(0);
  }
  return out;
}

std::optional<Cluster> cluster_of(const Cursor& cursor, Includes& includes) {
  if (cursor.node().kind != Node::Kind::scalar) return read_cluster(cursor);
  const auto name = cursor.text();
  if (!name) return std::nullopt;
  const std::string path = beside(cursor.file(), *name);
  const auto node = includes.yaml(path, cursor.file(), cursor.mark(), cursor.path());
  if (!node) return std::nullopt;
  Fields fields(Cursor(*node, path, "", includes.diagnostics()));
  const auto field = fields.required("cluster", "cluster: {invokers: 16, vcpu: 16}");
  fields.finish();
  return field ? read_cluster(*field) : std::nullopt;
}

std::vector<Application> applications_of(const Cursor& cursor, Includes& includes) {
  std::vector<Application> out;
  std::set<std::string> names;
  for (const Cursor& item : cursor.items(true)) {
    const auto name = item.text();
    if (!name) continue;
    auto application =
        load_application(beside(cursor.file(), *name), cursor.file(), item.mark(), item.path(), includes);
    if (!application) continue;
    if (!names.insert(application->name).second)
      item.error(str("the application '", application->name, "' is listed twice"));
    out.push_back(std::move(*application));
  }
  if (cursor.node().items.empty() && cursor.node().kind == Node::Kind::sequence) cursor.error("is empty");
  return out;
}

void check_names(const Cursor& document, const Experiment& experiment) {
  std::vector<std::string_view> known;
  for (const Application& application : experiment.applications) known.push_back(application.name);
  const auto check = [&](const std::string& name, std::string_view where) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      document.error(str(where, ": there is no application '", name, "' in this experiment.", suggestion(name, known)));
    }
  };
  for (const auto& [name, weight] : experiment.workload.mix) check(name, "workload.mix");
  if (const auto* trace = std::get_if<Trace>(&experiment.workload.arrivals)) {
    for (const auto& [function, name] : trace->mapping) check(name, "workload.mapping");
  }
}

}  // namespace

std::optional<Experiment> read_experiment(const Cursor& document, Includes& includes) {
  Experiment out;
  Fields fields(document);
  if (!fields.valid()) return std::nullopt;
  if (auto field = fields.required("experiment", "experiment: NAME")) out.name = field->name().value_or("");
  if (auto field = fields.required("cluster", "cluster: {invokers: 16, vcpu: 16, gpus: 1}"))
    out.cluster = cluster_of(*field, includes).value_or(Cluster{});
  if (auto field = fields.required("applications", "applications: [app.yaml]"))
    out.applications = applications_of(*field, includes);
  if (auto field = fields.optional("slo_scale")) out.slo_scale = field->number({1e-6, 1e6});
  if (auto field = fields.required("workload", "workload: {arrivals: poisson, rate: 10}"))
    out.workload = read_workload(*field);
  if (auto field = fields.optional("noise")) out.noise = read_noise(*field);
  if (auto field = fields.optional("transfer")) out.transfer = read_transfer(*field);
  if (auto field = fields.optional("network_delay")) out.network_delay = field->duration().value_or(Duration{});
  read_choice(fields, "instances", kInstances, out.instances);
  read_choice(fields, "scheduler_time", kSchedulerTimes, out.scheduler_time);
  read_choice(fields, "billing", kBillings, out.billing);
  if (auto field = fields.optional("parameters")) {
    for (const NamedCursor& entry : named_entries(*field)) out.parameters[entry.name] = read_values(entry.value);
  }
  if (auto field = fields.optional("schedulers")) {
    for (const Cursor& item : field->items(true)) out.schedulers.push_back(item.name().value_or(""));
  }
  if (auto field = fields.optional("prices")) out.prices = read_prices(*field);
  if (auto field = fields.optional("seed"))
    out.seed = static_cast<std::uint64_t>(field->integer(0, std::numeric_limits<std::int64_t>::max()).value_or(1));
  fields.finish();
  check_names(document, out);
  return out;
}

}  // namespace sluice::spec
