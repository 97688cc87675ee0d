#include "report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/fastest_rest.h"
#include "report/plot.h"
#include "report/table.h"

namespace sluice::report {
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

// One answer in words or as JSON; text() is called once.
class Writer {
 public:
  explicit Writer(const PlanShown& shown)
      : shown_(shown), planner_(shown.planner), question_(shown.question), answer_(shown.answer) {}

  [[nodiscard]] Json json() const {
    Json out = {{"planner", shown_.planner_name}, {"feasible", !answer_.plans.empty()}};
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
    out["application"] = shown_.application.name;
    out["slo_ms"] = slo_ms();
    out["elapsed_ms"] = shown_.elapsed_ms;
    out["queue"] = question_.queue;
    if (question_.percentile) out["percentile"] = *question_.percentile;
    if (answer_.percentile_ms > 0) out["percentile_ms"] = answer_.percentile_ms;
    out["error_bound"] = answer_.error_bound;
    out["binds"] = answer_.plans.empty() ? "time" : binds().word;
    return out;
  }

  [[nodiscard]] std::string text() {
    out_ += fmt::format("within {:.6g} ms", slo_ms());
    if (shown_.elapsed_ms > 0) out_ += fmt::format(", {:.6g} ms gone", shown_.elapsed_ms);
    if (question_.percentile) out_ += fmt::format(", percentile {}", *question_.percentile);
    out_ += fmt::format("; {} waiting; planner {}\n\n", question_.queue, shown_.planner_name);
    if (answer_.plans.empty()) {
      add_infeasible();
      return std::move(out_);
    }
    add_plan(answer_.plans.front());
    out_ += fmt::format("\n{}\n", why());
    add_alternatives();
    add_frontier();
    out_ += fmt::format("\nfound in {:.3g} µs, {} expansions", answer_.search_us, answer_.expansions);
    if (answer_.error_bound > 0)
      out_ += fmt::format("; frontiers were thinned: at most {:.2g} % above the optimum", 100 * answer_.error_bound);
    out_ += "\n";
    return std::move(out_);
  }

 private:
  struct Binding {
    std::string word, sentence;
  };

  [[nodiscard]] double slo_ms() const { return question_.remaining_ms + shown_.elapsed_ms; }
  [[nodiscard]] double fastest() const {
    return plan::FastestRest(planner_.model(), question_.queue).from(planner_.model(), question_.from);
  }
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

  void add_infeasible() {
    const double ms = fastest();
    if (std::isfinite(ms)) {
      out_ +=
          fmt::format("infeasible: the fastest plan needs {:.6g} ms, {:.6g} ms are left\n", ms, question_.remaining_ms);
      if (question_.percentile > 50.0 && ms <= question_.remaining_ms)
        out_ += fmt::format("            (its mean fits, its percentile {} does not: about {:.6g} ms)\n",
                            *question_.percentile, answer_.percentile_ms);
    } else {
      out_ += fmt::format("infeasible: with {} waiting some stage has no configuration with so small a batch\n",
                          question_.queue);
    }
  }

  // Plans below a millisecond are in microseconds; of longer ones a stage that is shorter keeps two digits.
  [[nodiscard]] bool in_us() const { return answer_.plans.front().latency_ms < 1; }
  [[nodiscard]] std::string latency_header() const { return in_us() ? "latency µs" : "latency ms"; }
  [[nodiscard]] std::string latency(double ms) const {
    if (in_us()) return fmt::format("{:.1f}", 1000 * ms);
    return ms < 1 ? fmt::format("{:.2g}", ms) : fmt::format("{:.1f}", ms);
  }

  void add_plan(const PlannedWorkflow& plan) {
    Table table({"stage", "batch", "vCPU", "vGPU", latency_header(), "of the deadline", "cost"});
    for (const plan::ChosenStage& c : plan.stages) {
      const plan::Candidate& at = candidate(c);
      const plan::StageTerms terms = stage(c).scale.of(at.ms, at.cost);
      const double ms = terms.ms + stage(c).wait_ms;
      table.add({stage(c).name, fmt::format("{}", at.configuration.batch), fmt::format("{}", at.configuration.vcpu),
                 fmt::format("{}", at.configuration.slices), latency(ms),
                 fmt::format("{:.1f} %", 100 * ms / question_.remaining_ms), dollars(terms.cost)});
    }
    table.add({"together", "", "", "", latency(plan.latency_ms),
               fmt::format("{:.1f} %", 100 * plan.latency_ms / question_.remaining_ms), dollars(plan.cost)});
    out_ += table.text("  ");
    if (question_.percentile > 50.0 && answer_.percentile_ms > 0)
      out_ += fmt::format("  percentile {} of the whole: {} {}\n", *question_.percentile,
                          latency(answer_.percentile_ms), in_us() ? "µs" : "ms");
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

  void add_alternatives() {
    if (answer_.plans.size() < 2) return;
    const PlannedWorkflow& best = answer_.plans.front();
    out_ +=
        fmt::format("\nIf {} for {} is not free, the next best are\n",
                    configuration_text(candidate(best.stages.front()).configuration), stage(best.stages.front()).name);
    std::vector<std::string> header = {"", latency_header(), "cost", "dearer by"};
    for (const plan::ChosenStage& c : best.stages) header.push_back(stage(c).name);
    Table table(header);
    constexpr std::size_t kColumnsMax = 6;  // of stages; wider than a terminal helps nobody
    for (std::size_t i = 1; i < answer_.plans.size(); ++i) {
      const PlannedWorkflow& plan = answer_.plans[i];
      std::vector<std::string> row = {fmt::format("{}.", i), latency(plan.latency_ms), dollars(plan.cost),
                                      fmt::format("{:.1f} %", 100 * (plan.cost / best.cost - 1))};
      for (std::size_t s = 0; s < std::min(plan.stages.size(), kColumnsMax); ++s) {
        const Configuration& at = candidate(plan.stages[s]).configuration;
        row.push_back(fmt::format("({},{},{})", at.batch, at.vcpu, at.slices));
      }
      table.add(std::move(row));
    }
    out_ += fmt::format("{}  (batch, vCPU, vGPU) of each stage\n", table.text("  "));
  }

  void add_frontier() {
    const plan::Frontier& whole = planner_.whole(question_.queue);
    if (whole.size() < 3) return;
    std::vector<PlotPoint> points;
    for (const plan::Frontier::Point& point : whole.points()) points.push_back({point.ms, point.cost});
    out_ += fmt::format(
        "\nThe best trade-offs of the whole workflow (dollars a request over milliseconds, | the deadline):\n{}",
        plot(points, slo_ms()));
  }

  const PlanShown& shown_;
  const plan::FrontierPlanner& planner_;
  const PlanQuestion& question_;
  const PlanAnswer& answer_;
  std::string out_;
};

}  // namespace

std::string plan_text(const PlanShown& shown) {
  return Writer(shown).text();
}

std::string plan_json(const PlanShown& shown) {
  return Writer(shown).json().dump(2);
}

}  // namespace sluice::report
