#include "plan/percentile.h"

#include <algorithm>

#include "plan/fastest_rest.h"

namespace sluice::plan {
namespace {

constexpr int kTriesMax = 24;
constexpr double kBinsOverBudget = 400;

double quantile_of(const FrontierPlanner& planner, const PercentileQuestion& question, const Option& option,
                   FrontierWorkspace& workspace) {
  std::vector<StageChoice> choices(planner.model().stages.size());
  for (const ChosenStage& chosen : planner.plan_of(question.stage, option, workspace).stages)
    choices[chosen.stage] = {true, chosen.candidate};
  return distribution(planner.model(), choices, std::max(1e-6, question.budget_ms / kBinsOverBudget))
      .quantile(question.percentile / 100);
}

}  // namespace

PercentilePlan plan_for_percentile(const FrontierPlanner& planner, const PercentileQuestion& question,
                                   FrontierWorkspace& workspace) {
  PercentilePlan out{.mean_budget_ms = question.budget_ms};
  const double fastest = FastestRest(planner.model(), question.cap).from(planner.model(), question.stage);
  // Costs fall as the budget for means grows, so the largest budget whose plan holds is wanted: it lies between the
  // fastest mean and the budget itself, and bisection finds it although plans change in steps.
  double low = fastest, high = question.budget_ms, attempt = high;
  for (int i = 0; i < kTriesMax && attempt >= fastest && attempt <= question.budget_ms; ++i) {
    const auto options = planner.query(question.stage, question.cap, attempt, workspace);
    if (options.empty()) break;
    const double quantile = quantile_of(planner, question, options.front(), workspace);
    const bool holds = question.percentile <= 50 || quantile <= question.budget_ms;
    if (holds) {
      out.found = true;
      out.mean_budget_ms = low = attempt;
      out.percentile_ms = quantile;
    } else {
      high = attempt;
    }
    if (holds && i == 0) break;
    if (high - low < 1e-4 * question.budget_ms && i > 0) break;
    // First guess: the margin of the plan just seen.
    attempt = i == 0 ? std::max(fastest, question.budget_ms * question.budget_ms / quantile) : low + (high - low) / 2;
  }
  if (!out.found) {  // bisection never tried the fastest itself
    const auto options = planner.query(question.stage, question.cap, std::min(fastest, question.budget_ms), workspace);
    if (!options.empty()) out.percentile_ms = quantile_of(planner, question, options.front(), workspace);
    out.found = !options.empty() && (question.percentile <= 50 || out.percentile_ms <= question.budget_ms);
    out.mean_budget_ms = fastest;
  }
  if (!out.found) return out;
  const auto options = planner.query(question.stage, question.cap, out.mean_budget_ms, workspace);
  out.options.assign(options.begin(), options.end());
  return out;
}

}  // namespace sluice::plan
