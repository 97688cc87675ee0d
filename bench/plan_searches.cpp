#include "bench/plan_searches.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "base/check.h"
#include "bench/plan_models.h"
#include "bench/race.h"
#include "plan/rivals/brute_force.h"
#include "plan/rivals/esg_1q.h"
#include "plan/rivals/label_search.h"
#include "plan/rivals/normalised_length.h"
#include "plan/rivals/slo_split.h"

namespace sluice::bench {
namespace {

using plan::BatchCap;
using plan::SortedStages;

constexpr std::array kQueues{1, 8, 32};
constexpr std::array kSlos{0.8, 1.0, 1.2};  // of L
constexpr std::size_t kGroup = 3;           // ESG's group size; longer chains take ESG_1Q seconds

struct Row {
  std::size_t options = 0;
  double frontier_us = 0, esg_us = 0, esg_pareto_us = 0, label_us = 0;
  std::optional<double> brute_force_us;
};

// One application at one queue length: what is built at deploy and outlives a decision.
class Searches {
 public:
  Searches(const plan::FrontierPlanner& planner, const std::vector<plan::Candidates>& chain, BatchCap queue)
      : planner_(planner),
        chain_(chain),
        queue_(queue),
        split_(plan::split_slo(planner.model().tree, plan::average_normalised_lengths(chain), kGroup)),
        group_(std::span(chain).first(split_.stages_left(0).size()), queue, SortedStages::Keep::all),
        filtered_(chain, queue, SortedStages::Keep::pareto) {}

  Row race(double slo_ms, const Effort& effort) {
    Row row{.options = planner_.query(0, queue_, slo_ms, workspace_).size()};
    check_agreement(slo_ms, row);
    Race race;
    const auto frontier = race.add([&, b = Budgets(slo_ms)]() mutable {
      benchmark::DoNotOptimize(planner_.query(0, queue_, b.next(), workspace_).data());
    });
    const auto esg = race.add([&, b = Budgets(split_.budget_ms(0, slo_ms))]() mutable {
      benchmark::DoNotOptimize(plan::esg_1q(group_, {.budget_ms = b.next()}, search_).paths.data());
    });
    const auto esg_pareto = race.add([&, b = Budgets(slo_ms)]() mutable {
      benchmark::DoNotOptimize(plan::esg_1q(filtered_, {.budget_ms = b.next()}, search_).paths.data());
    });
    const auto label = race.add([&, b = Budgets(slo_ms)]() mutable {
      benchmark::DoNotOptimize(plan::label_search(filtered_, b.next(), search_).paths.data());
    });
    race.run(effort.quick ? 3 : 25);
    row.frontier_us = race.median_us(frontier);
    row.esg_us = race.median_us(esg);
    row.esg_pareto_us = race.median_us(esg_pareto);
    row.label_us = race.median_us(label);
    return row;
  }

 private:
  // The searches must find plans of one cost, or their times mean nothing. Brute force is timed here, once.
  void check_agreement(double slo_ms, Row& row) {
    const auto options = planner_.query(0, queue_, slo_ms, workspace_);
    const auto agrees = [&](std::string_view who, bool found, Dollars cost) {
      const bool same = found == !options.empty() && (!found || std::abs(cost - options[0].cost) <= 1e-9 * cost);
      CHECK_MSG(same, fmt::format("{} finds another plan than the frontier", who));
    };
    const auto search_agrees = [&](std::string_view who, const plan::SearchResult& result) {
      agrees(who, !result.paths.empty(), result.paths.empty() ? 0 : result.paths[0].cost);
    };
    search_agrees("label search", plan::label_search(filtered_, slo_ms, search_));
    search_agrees("ESG_1Q, filtered", plan::esg_1q(filtered_, {.budget_ms = slo_ms}, search_));
    if (chain_.size() > kGroup) return;
    search_agrees("ESG_1Q", plan::esg_1q(group_, {.budget_ms = slo_ms}, search_));
    const Stopwatch watch;
    const auto paths = plan::brute_force({.stages = chain_, .budget_ms = slo_ms, .batch_cap = queue_}, 1);
    row.brute_force_us = watch.us();
    agrees("brute force", !paths->empty(), paths->empty() ? 0 : paths->front().cost);
  }

  const plan::FrontierPlanner& planner_;
  const std::vector<plan::Candidates>& chain_;
  BatchCap queue_;
  plan::SloSplit split_;
  SortedStages group_;     // what ESG_1Q searches: all configurations of the first group
  SortedStages filtered_;  // the whole chain
  plan::FrontierWorkspace workspace_;
  plan::SearchWorkspace search_;
};

void print_head() {
  fmt::print(
      "One decision for the first stage: the frontier ranks every configuration that can still meet the SLO, the "
      "others "
      "find the best plan(s).\n(×: times the frontier's time; *: ESG_1Q on the first {} stages with their share of the "
      "SLO, as ESG does with longer chains)\n\n",
      kGroup);
  fmt::print("{:<30} {:>3} {:>5} {:>7}  {:>11}  {:>12} {:>7}  {:>12} {:>7}  {:>12} {:>7}  {:>12} {:>8}\n",
             "application", "SLO", "queue", "options", "frontier µs", "ESG_1Q µs", "×", "filtered µs", "×", "label µs",
             "×", "brute f. µs", "×");
}

std::string beside(double us, double frontier_us, std::string_view mark = " ") {
  return fmt::format("{:>11.1f}{} {:>7.1f}", us, mark, us / frontier_us);
}

void print(const esg_profile::Application& application, double slo, int queue, const Row& row) {
  const bool split = application.stages.size() > kGroup;
  fmt::print("{:<30} {:>3.1f} {:>5} {:>7}  {:>11.2f}  {}  {}  {}  {}\n", application.name, slo, queue, row.options,
             row.frontier_us, beside(row.esg_us, row.frontier_us, split ? "*" : " "),
             beside(row.esg_pareto_us, row.frontier_us), beside(row.label_us, row.frontier_us),
             row.brute_force_us
                 ? fmt::format("{:>12.0f} {:>8.0f}", *row.brute_force_us, *row.brute_force_us / row.frontier_us)
                 : fmt::format("{:>12} {:>8}", "–", "–"));
}

}  // namespace

SearchFigures race_searches(const Effort& effort) {
  SearchFigures figures;
  print_head();
  for (const esg_profile::Application& application : esg_applications()) {
    const std::vector<plan::Candidates> chain = application.candidates();
    const plan::FrontierPlanner planner(model_of(application));
    for (const int queue : kQueues) {
      Searches searches(planner, chain, static_cast<BatchCap>(queue));
      for (const double slo : kSlos) {
        const Row row = searches.race(slo * application.minimum_ms(), effort);
        print(application, slo, queue, row);
        if (queue != kQueues.back()) continue;
        const bool three = chain.size() == 3;
        (three ? figures.three_stages_us : figures.five_stages_us).push_back(row.frontier_us);
        if (three) figures.three_stages_ratio.push_back(row.esg_us / row.frontier_us);
      }
    }
  }
  return figures;
}

}  // namespace sluice::bench
