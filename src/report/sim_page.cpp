#include "report/sim_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "report/sim_page_text.h"
#include "sim/run_log.h"

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kWindowRequests = 3'000;
constexpr std::uint64_t kWindowInvocations = 40'000;  // of all schedulers together

struct ArrivalText {
  std::string operator()(const UniformGap& a) const {
    return fmt::format("a request every {} to {}", to_string(a.low), to_string(a.high));
  }
  std::string operator()(const Poisson& a) const { return fmt::format("Poisson, {:g} requests/s", a.rate); }
  std::string operator()(const Renewal& a) const {
    return fmt::format("{:g} requests/s, coefficient of variation {:g}", a.rate, a.cv);
  }
  std::string operator()(const OnOff& a) const {
    return fmt::format("bursts of {:g} requests/s, else {:g}", a.on_rate, a.off_rate);
  }
  std::string operator()(const Diurnal& a) const {
    return fmt::format("{:g} requests/s ± {:.0f} % over {}", a.rate, a.amplitude * 100, to_string(a.period));
  }
  std::string operator()(const Listed& a) const { return fmt::format("{} listed requests", a.at.size()); }
  std::string operator()(const Trace&) const { return "a trace"; }
};

Json setup_json(const Experiment& experiment) {
  Json setup = Json::array();
  for (const NodeGroup& nodes : experiment.cluster.nodes) {
    std::string line =
        fmt::format("{} {} × {} vCPUs", nodes.count, nodes.count == 1 ? "invoker" : "invokers", nodes.vcpu);
    if (nodes.gpus > 0) line += fmt::format(", {} GPU × {} slices", nodes.gpus, nodes.slices_per_gpu);
    setup.push_back(line);
  }
  setup.push_back(std::visit(ArrivalText{}, experiment.workload.arrivals));
  setup.push_back(experiment.slo_scale ? fmt::format("objectives {:g} × the least time", *experiment.slo_scale)
                                       : "objectives as deployed");
  if (experiment.noise && experiment.noise->sigma > 0)
    setup.push_back(fmt::format("noise {:g} %", experiment.noise->sigma * 100));
  return setup;
}

Json shares_json(const sim::RunShape::Shares& shares) {
  const auto first = std::find_if(shares.counts.begin(), shares.counts.end(), [](auto n) { return n > 0; });
  return {{"first", first - shares.counts.begin()},
          {"counts", std::vector<std::uint64_t>(first, shares.counts.end())},
          {"slower", shares.slower},
          {"ends", shares.ends},
          {"objective_ms", shares.objective.to_ms()},
          {"cost", shares.cost.to_dollars()}};
}

std::int64_t us(Duration d) {
  return (d.count_ns() + 500) / 1'000;
}

// [id, application, arrival, objective, latency, ending, cost in nano-dollars, cold, reason]; times in µs.
Json request_json(const sim::RequestRow& row, Time origin) {
  return {row.id.value(),
          row.application,
          us(row.arrival - origin),
          us(row.deadline - row.arrival),
          us(row.finish - row.arrival),
          static_cast<int>(row.ending),
          row.cost.count() / 1'000,
          row.cold ? 1 : 0,
          row.reason ? Json(sim::name(*row.reason)) : Json(0)};
}

// First position and length of each run of slices.
Json slices_json(std::uint64_t slices) {
  Json out = Json::array();
  for (int at = 0; slices != 0;) {
    const int gap = std::countr_zero(slices);
    slices >>= gap;
    const int run = std::countr_one(slices);
    out.push_back(at + gap);
    out.push_back(run);
    slices = run == 64 ? 0 : slices >> run;
    at += gap + run;
  }
  return out;
}

// [id, kind, stage, invoker, gpu, [slices], batch, vcpu, vgpu, decided, deciding, loading, transfer, expected,
// measured, until finished, end, left waiting, [request, waited since (before decided), …]]; times in µs.
Json action_json(const sim::RunWindow::Action& action, Time origin) {
  const sim::ActionRow& row = action.row;
  Json members = Json::array();
  for (const BatchMember& member : action.members) {
    members.push_back(member.request.value());
    members.push_back(us(row.decided - member.ready));
  }
  return {row.id,
          static_cast<int>(row.kind),
          action.stage,
          row.invoker.value(),
          row.positions.gpu,
          slices_json(row.positions.slices),
          row.configuration.batch,
          row.configuration.vcpu,
          row.configuration.slices,
          us(row.decided - origin),
          us(row.started - row.decided),
          us(row.loading),
          us(row.transfer),
          us(row.expected),
          us(row.measured),
          us(row.finished - row.decided),
          static_cast<int>(row.end),
          row.queued,
          std::move(members)};
}

Json window_json(const sim::RunWindow& window, Time origin) {
  Json stages = Json::array(), requests = Json::array(), actions = Json::array();
  for (const auto& stage : window.stages()) stages.push_back({stage.application, stage.stage, stage.function});
  for (const sim::RequestRow& row : window.requests()) requests.push_back(request_json(row, origin));
  for (const auto& action : window.actions()) actions.push_back(action_json(action, origin));
  return {{"stages", stages}, {"requests", requests}, {"actions", actions}};
}

Json scheduler_json(const Reported& reported, Time origin) {
  Json out = figures_json(reported.runs);
  out.erase("runs");
  Json table = Json::array();
  for (const Figure& figure : figures(reported.runs))
    table.push_back({figure.heading, figure.value.mean, figure.value.half, figure.digits});
  out["figures"] = table;
  Json shares = Json::array();
  for (const sim::RunShape::Shares& s : reported.shape->shares()) shares.push_back(shares_json(s));
  out["shares"] = shares;
  const sim::RunShape::Times& times = reported.shape->times();
  out["times_ms"] = {{"waiting", times.waiting_ms},     {"deciding", times.deciding_ms},
                     {"loading", times.loading_ms},     {"transfer", times.transfer_ms},
                     {"execution", times.execution_ms}, {"expected", times.expected_ms},
                     {"members", times.members}};
  out["slowest"] = {reported.shape->worst().request, reported.shape->worst().share};
  out["window"] = window_json(*reported.window, origin);
  return out;
}

}  // namespace

std::uint64_t window_length(const Experiment& experiment, std::size_t schedulers) {
  std::size_t stages = 1;
  for (const Application& application : experiment.applications) stages = std::max(stages, application.workflow.size());
  const std::uint64_t affordable = kWindowInvocations / (stages * std::max<std::size_t>(1, schedulers));
  return std::clamp<std::uint64_t>(affordable / sim::RunShape::kBlock, 1, kWindowRequests / sim::RunShape::kBlock) *
         sim::RunShape::kBlock;
}

std::string report_html(const Experiment& experiment, const std::vector<Reported>& schedulers) {
  Time origin = Time::max();
  for (const Reported& reported : schedulers) {
    for (const sim::RequestRow& row : reported.window->requests()) origin = std::min(origin, row.arrival);
  }
  Json machines = Json::array(), names = Json::array(), list = Json::array();
  for (const NodeGroup& nodes : experiment.cluster.nodes)
    machines.push_back({nodes.count, nodes.gpus, nodes.slices_per_gpu == 0 ? 7 : nodes.slices_per_gpu});
  for (const Application& application : experiment.applications) names.push_back(application.name);
  for (const Reported& reported : schedulers) list.push_back(scheduler_json(reported, origin));
  const Json data{{"experiment", experiment.name},
                  {"seed", experiment.seed},
                  {"repeat", schedulers.front().runs.size()},
                  {"requests", experiment.workload.requests},
                  {"warmup", experiment.workload.warmup},
                  {"setup", setup_json(experiment)},
                  {"machines", machines},
                  {"applications", names},
                  {"bins_per_objective", sim::RunShape::kBinsPerObjective},
                  {"origin_ms", (origin - Time::from_ns(0)).to_ms()},
                  {"schedulers", list}};
  // A name must not be able to end the script that holds the data.
  std::string text = data.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  std::string page(kReportPage);
  constexpr std::string_view kHere = "{{data}}";
  const std::size_t here = page.find(kHere);
  CHECK(here != std::string::npos);
  return page.replace(here, kHere.size(), text);
}

}  // namespace sluice::report
