// `sluice plan`: which configuration every stage gets, what it costs, what the alternatives are, and why.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/planners.h"
#include "cli/plot.h"
#include "cli/terminal.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dollars(Dollars cost) {
  return fmt::format("${:.4g}", cost);
}

std::string configuration_text(const Configuration& c) {
  std::string out = fmt::format("batch {}, {} vCPU, {} slice{}", c.batch, c.vcpu, c.slices, c.slices == 1 ? "" : "s");
  if (c.slices > 0 && c.device != DeviceKind::gpu()) out += fmt::format(" of {}", c.device.name());
  return out;
}

// A planner's answer with what is needed to print it.
class Report {
 public:
  Report(const PlanOptions& options, const Application& application, const plan::FrontierPlanner& planner,
         const PlanQuestion& question, PlanAnswer answer)
      : options_(options),
        application_(application),
        planner_(planner),
        question_(question),
        answer_(std::move(answer)) {}

  [[nodiscard]] Json json() const {
    Json out = {{"planner", options_.planner}, {"feasible", !answer_.plans.empty()}};
    if (answer_.plans.empty()) {
      out["fastest_ms"] = fastest();
    } else {
      out.update(plan_json(answer_.plans.front()));
    }
    Json alternatives = Json::array();
    for (std::size_t i = 1; i < answer_.plans.size(); ++i) alternatives.push_back(plan_json(answer_.plans[i]));
    out["alternatives"] = std::move(alternatives);
    out["search_us"] = answer_.search_us;
    out["expansions"] = answer_.expansions;
    out["application"] = application_.name;
    out["slo_ms"] = slo_ms();
    out["elapsed_ms"] = options_.elapsed_ms;
    out["queue"] = question_.queue;
    out["percentile"] = question_.percentile;
    if (answer_.percentile_ms > 0) out["percentile_ms"] = answer_.percentile_ms;
    out["error_bound"] = answer_.error_bound;
    out["binds"] = answer_.plans.empty() ? "time" : binds().word;
    return out;
  }

  void print() const {
    fmt::print("{} within {:.6g} ms", bold(application_.name), slo_ms());
    if (options_.elapsed_ms > 0) fmt::print(", {:.6g} ms gone", options_.elapsed_ms);
    if (question_.percentile != 50) fmt::print(", percentile {}", question_.percentile);
    fmt::print("; {} waiting; planner {}\n\n", question_.queue, options_.planner);
    if (answer_.plans.empty()) {
      print_infeasible();
      return;
    }
    print_plan(answer_.plans.front());
    fmt::print("\n{}\n", why());
    print_alternatives();
    print_frontier();
    fmt::print("\nfound in {:.3g} µs, {} expansions", answer_.search_us, answer_.expansions);
    if (answer_.error_bound > 0)
      fmt::print("; frontiers were thinned: at most {:.2g} % above the optimum", 100 * answer_.error_bound);
    fmt::print("\n");
  }

 private:
  struct Binding {
    std::string word, sentence;
  };

  [[nodiscard]] double slo_ms() const { return question_.remaining_ms + options_.elapsed_ms; }
  [[nodiscard]] double fastest() const { return planner_.fastest_ms(question_.from, question_.queue); }
  [[nodiscard]] const plan::ModelStage& stage(const plan::ChosenStage& c) const {
    return planner_.model().stages[c.stage];
  }
  [[nodiscard]] const plan::Candidate& candidate(const plan::ChosenStage& c) const {
    return stage(c).candidates[c.candidate];
  }

  [[nodiscard]] Json plan_json(const PlannedWorkflow& plan) const {
    Json stages = Json::array();
    for (const plan::ChosenStage& c : plan.stages) {
      const plan::Candidate& at = candidate(c);
      const plan::StageTerms terms = stage(c).scale.of(at.ms, at.cost);
      stages.push_back({{"stage", stage(c).name},
                        {"batch", at.configuration.batch},
                        {"vcpu", at.configuration.vcpu},
                        {"vgpu", at.configuration.slices},
                        {"device", at.configuration.device.name()},
                        {"latency_ms", terms.ms + stage(c).wait_ms},
                        {"cost", terms.cost}});
    }
    return {{"latency_ms", plan.latency_ms}, {"cost", plan.cost}, {"stages", stages}};
  }

  void print_infeasible() const {
    const double ms = fastest();
    if (std::isfinite(ms)) {
      fmt::print("infeasible: the fastest plan needs {:.6g} ms, {:.6g} ms are left\n", ms, question_.remaining_ms);
      if (question_.percentile > 50 && ms <= question_.remaining_ms)
        fmt::print("            (its mean fits, its percentile {} does not: about {:.6g} ms)\n", question_.percentile,
                   answer_.percentile_ms);
    } else {
      fmt::print("infeasible: with {} waiting some stage has no configuration with so small a batch\n",
                 question_.queue);
    }
  }

  void print_plan(const PlannedWorkflow& plan) const {
    Table table({"stage", "batch", "vCPU", "vGPU", "latency ms", "of the deadline", "cost"});
    for (const plan::ChosenStage& c : plan.stages) {
      const plan::Candidate& at = candidate(c);
      const plan::StageTerms terms = stage(c).scale.of(at.ms, at.cost);
      const double ms = terms.ms + stage(c).wait_ms;
      table.add({stage(c).name, fmt::format("{}", at.configuration.batch), fmt::format("{}", at.configuration.vcpu),
                 fmt::format("{}", at.configuration.slices), fmt::format("{:.1f}", ms),
                 fmt::format("{:.1f} %", 100 * ms / question_.remaining_ms), dollars(terms.cost)});
    }
    table.add({"together", "", "", "", fmt::format("{:.1f}", plan.latency_ms),
               fmt::format("{:.1f} %", 100 * plan.latency_ms / question_.remaining_ms), dollars(plan.cost)});
    fmt::print("{}", table.text("  "));
    if (question_.percentile > 50 && answer_.percentile_ms > 0)
      fmt::print("  percentile {} of the whole: {:.1f} ms\n", question_.percentile, answer_.percentile_ms);
  }

  // What would have to give for a cheaper plan: more time, or a longer queue. Asked of the frontier, whoever planned.
  [[nodiscard]] Binding binds() const {
    plan::FrontierWorkspace workspace;
    const Dollars now = answer_.plans.front().cost;
    const auto cheapest = [&](plan::BatchCap cap, double ms) {
      const auto options = planner_.query(question_.from, cap, ms, workspace);
      return options.empty() ? now : options.front().cost;
    };
    const Dollars more_time = cheapest(question_.queue, 1.2 * question_.remaining_ms);
    const Dollars longer_queue = cheapest(plan::kNoBatchCap, question_.remaining_ms);
    constexpr double kWorthIt = 0.999;
    const auto saving = [&](Dollars cost) {
      return fmt::format("{:.0f} % cheaper ({})", 100 * (1 - cost / now), dollars(cost));
    };
    if (more_time < kWorthIt * now && more_time <= longer_queue) {
      return {"time",
              fmt::format("The deadline binds: with 20 % more time the cheapest plan would be {}.", saving(more_time))};
    }
    if (longer_queue < kWorthIt * now) {
      return {"queue",
              fmt::format("The queue binds: only {} wait, so batches stay small; with a long queue it would be {}.",
                          question_.queue, saving(longer_queue))};
    }
    return {"nothing", "Nothing binds: neither more time nor a longer queue would make a cheaper plan."};
  }

  [[nodiscard]] std::string why() const {
    return fmt::format("Why this plan: of all plans that finish within {:.6g} ms it is the cheapest a request. {}",
                       question_.remaining_ms, binds().sentence);
  }

  void print_alternatives() const {
    if (answer_.plans.size() < 2) return;
    const PlannedWorkflow& best = answer_.plans.front();
    fmt::print("\nIf {} for {} is not free, the next best are\n",
               configuration_text(candidate(best.stages.front()).configuration), stage(best.stages.front()).name);
    std::vector<std::string> header = {"", "latency ms", "cost", "dearer by"};
    for (const plan::ChosenStage& c : best.stages) header.push_back(stage(c).name);
    Table table(header);
    constexpr std::size_t kColumnsMax = 6;  // of stages; wider than a terminal helps nobody
    for (std::size_t i = 1; i < answer_.plans.size(); ++i) {
      const PlannedWorkflow& plan = answer_.plans[i];
      std::vector<std::string> row = {fmt::format("{}.", i), fmt::format("{:.1f}", plan.latency_ms), dollars(plan.cost),
                                      fmt::format("{:.1f} %", 100 * (plan.cost / best.cost - 1))};
      for (std::size_t s = 0; s < std::min(plan.stages.size(), kColumnsMax); ++s) {
        const Configuration& at = candidate(plan.stages[s]).configuration;
        row.push_back(fmt::format("({},{},{})", at.batch, at.vcpu, at.slices));
      }
      table.add(std::move(row));
    }
    fmt::print("{}  (batch, vCPU, vGPU) of each stage\n", table.text("  "));
  }

  void print_frontier() const {
    const plan::Frontier& whole = planner_.whole(question_.queue);
    if (whole.size() < 3) return;
    std::vector<PlotPoint> points;
    for (const plan::Frontier::Point& point : whole.points()) points.push_back({point.ms, point.cost});
    fmt::print("\nThe best trade-offs of the whole workflow (dollars a request over milliseconds, | the deadline):\n{}",
               plot(points, slo_ms()));
  }

  const PlanOptions& options_;
  const Application& application_;
  const plan::FrontierPlanner& planner_;
  const PlanQuestion& question_;
  PlanAnswer answer_;
};

Result<PlanAnswer> ask(const PlanOptions& options, const plan::FrontierPlanner& planner, const PlanQuestion& question) {
  if (options.planner == "frontier") return ask_frontier(planner, question);
  if (options.planner == "esg-1q") return ask_esg_1q(planner.model(), question);
  if (options.planner == "label") return ask_label(planner.model(), question);
  return ask_brute_force(planner.model(), question);
}

// The stage to plan from: the one named, or the first that has no predecessors.
Result<std::size_t> stage_to_plan(const PlanOptions& options, const plan::WorkflowModel& model) {
  if (options.from.empty()) return std::size_t{0};
  const std::size_t stage = model.find(options.from);
  if (stage < model.stages.size()) return stage;
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(model.stages.size(), 16); ++i)
    known += (i == 0 ? "" : ", ") + model.stages[i].name;
  return Error{ErrorCode::not_found, fmt::format("--from: there is no stage '{}'. Known: {}", options.from, known)};
}

constexpr std::size_t kExactStagesMax = 30;  // larger workflows get thinner frontiers

}  // namespace

int plan_command(const PlanOptions& options) {
  const spec::Loaded loaded = spec::load(options.file);
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) fmt::print(stderr, "{}\n", to_string(d));
  if (!loaded.document) return 1;
  const auto* application = std::get_if<Application>(&*loaded.document);
  if (application == nullptr) return failed(fmt::format("{} is no application; sluice plan needs one", options.file));
  const auto profiles = plan::make_profiles(*application);
  if (!profiles) return failed(profiles.error().message);
  auto model = plan::make_model(*application, *profiles);
  if (!model) return failed(model.error().message);
  const auto from = stage_to_plan(options, *model);
  if (!from) return failed(from.error().message);
  const double slo_ms = options.slo_ms.value_or(application->objective.latency.to_ms());
  const PlanQuestion question{.from = *from,
                              .remaining_ms = slo_ms - options.elapsed_ms,
                              .queue = options.queue,
                              .percentile = options.percentile.value_or(application->objective.percentile),
                              .top = options.top,
                              .repeat = options.repeat};
  const plan::FrontierOptions thinning{.points_max =
                                           model->stages.size() <= kExactStagesMax ? std::size_t{1} << 16 : 512};
  const plan::FrontierPlanner planner(std::move(model).value(), thinning);
  auto answer = ask(options, planner, question);
  if (!answer) return failed(answer.error().message);
  const Report report(options, *application, planner, question, std::move(answer).value());
  if (options.json)
    fmt::print("{}\n", report.json().dump(2));
  else
    report.print();
  return 0;
}

}  // namespace sluice::cli
