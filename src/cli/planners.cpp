#include "cli/planners.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.h"
#include "plan/percentile.h"
#include "plan/rivals/brute_force.h"
#include "plan/rivals/esg_1q.h"
#include "plan/rivals/label_search.h"
#include "plan/rivals/normalised_length.h"
#include "plan/rivals/slo_split.h"
#include "plan/rivals/tree_brute_force.h"

namespace sluice::cli {
namespace {

using plan::ChosenStage;
using plan::WorkflowModel;

// Runs `search` as often as asked and gives the median of its times in microseconds.
template <class Search>
double median_us(int repeat, const Search& search) {
  std::vector<double> times;
  for (int i = 0; i < std::max(1, repeat); ++i) {
    const auto start = std::chrono::steady_clock::now();
    search();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// The candidates of a stage with its factors applied, so that sums along a chain are what the tree would give.
plan::Candidates scaled(const plan::ModelStage& stage) {
  plan::Candidates out;
  for (const plan::Candidate& c : stage.candidates) {
    const plan::StageTerms terms = stage.scale.of(c.ms, c.cost);
    out.push_back({c.configuration, terms.ms + stage.wait_ms, terms.cost});
  }
  return out;
}

// The stages from `from` on if the workflow is a chain.
std::optional<std::vector<std::size_t>> chain_from(const WorkflowModel& model, std::size_t from) {
  using Kind = SeriesParallelTree::Kind;
  const auto& root = model.tree.nodes[model.tree.root()];
  if (root.kind == Kind::stage) return std::vector<std::size_t>{root.stage};
  if (root.kind != Kind::series) return std::nullopt;
  std::vector<std::size_t> out;
  bool begun = false;
  for (const auto child : model.tree.children_of(root)) {
    if (model.tree.nodes[child].kind != Kind::stage) return std::nullopt;
    begun = begun || model.tree.nodes[child].stage == from;
    if (begun) out.push_back(model.tree.nodes[child].stage);
  }
  return out;
}

Error needs_chain(std::string_view planner) {
  return {ErrorCode::invalid, str("the planner ", planner,
                                  " plans chains, and this workflow has parallel regions; use --planner frontier")};
}

template <class Candidate>
std::vector<ChosenStage> chosen(const std::vector<std::size_t>& chain, const Candidate& candidates) {
  std::vector<ChosenStage> out;
  for (std::size_t i = 0; i < chain.size(); ++i) out.push_back({chain[i], candidates[i]});
  return out;
}

}  // namespace

PlannedWorkflow totals_of(const WorkflowModel& model, std::vector<ChosenStage> stages) {
  std::vector<plan::StageTerms> terms(model.stages.size());
  for (const ChosenStage& c : stages) {
    const plan::ModelStage& stage = model.stages[c.stage];
    terms[c.stage] = stage.scale.of(stage.candidates[c.candidate].ms, stage.candidates[c.candidate].cost);
    terms[c.stage].ms += stage.wait_ms;
  }
  const plan::Totals totals = plan::evaluate(model.tree, terms);
  return {totals.ms, totals.cost, std::move(stages)};
}

Result<PlanAnswer> ask_frontier(const plan::FrontierPlanner& planner, const PlanQuestion& question) {
  plan::FrontierWorkspace workspace;
  PlanAnswer out;
  const plan::PercentilePlan best = plan_for_percentile(planner,
                                                        {.stage = question.from,
                                                         .cap = question.queue,
                                                         .budget_ms = question.remaining_ms,
                                                         .percentile = question.percentile.value_or(50)},
                                                        workspace);
  out.search_us = median_us(
      question.repeat, [&] { (void)planner.query(question.from, question.queue, best.mean_budget_ms, workspace); });
  out.percentile_ms = best.percentile_ms;
  out.error_bound = plan::compounded(planner.error_bound(question.queue), workspace.rest.error());
  for (std::size_t i = 0; i < best.options.size() && i <= question.top; ++i) {
    out.plans.push_back(totals_of(planner.model(), planner.plan_of(question.from, best.options[i], workspace).stages));
  }
  for (const plan::Candidate& c : planner.model().stages[question.from].candidates)
    out.expansions += c.configuration.batch <= question.queue ? 1 : 0;
  return out;
}

Result<PlanAnswer> ask_esg_1q(const WorkflowModel& model, const PlanQuestion& question) {
  const auto chain = chain_from(model, question.from);
  if (!chain) return needs_chain("esg-1q");
  std::vector<plan::Candidates> all;
  for (const plan::ModelStage& stage : model.stages) all.push_back(scaled(stage));
  const plan::SloSplit split = plan::split_slo(model.tree, plan::average_normalised_lengths(all));
  // The groups are searched one after the other; what one leaves over is split again over the rest.
  std::vector<PlannedWorkflow> plans;
  plan::SearchWorkspace workspace;
  PlanAnswer out;
  std::vector<ChosenStage> before;
  double remaining = question.remaining_ms;
  for (std::size_t at = 0; at < chain->size();) {
    const auto first = static_cast<Graph::Node>((*chain)[at]);
    const auto group = split.stages_left(first);
    std::vector<plan::Candidates> stages;
    for (const Graph::Node stage : group) stages.push_back(all[stage]);
    const plan::SortedStages sorted(stages, question.queue, plan::SortedStages::Keep::all);
    const plan::EsgQuery query{.budget_ms = split.budget_ms(first, remaining), .k = question.top + 1};
    plan::SearchResult found;
    out.search_us += median_us(question.repeat, [&] { found = plan::esg_1q(sorted, query, workspace); });
    out.expansions += found.expansions;
    if (found.paths.empty()) return out;
    // Alternatives are those of the first group; later groups follow the best.
    const std::size_t kept = at == 0 ? found.paths.size() : 1;
    for (std::size_t p = 0; p < kept; ++p) {
      std::vector<ChosenStage> stages_chosen = before;
      for (std::size_t i = 0; i < group.size(); ++i) stages_chosen.push_back({group[i], found.paths[p].candidates[i]});
      if (at == 0) plans.push_back({.stages = std::move(stages_chosen)});
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      const ChosenStage stage{group[i], found.paths.front().candidates[i]};
      before.push_back(stage);
      if (at > 0) {
        for (PlannedWorkflow& plan : plans) plan.stages.push_back(stage);
      }
    }
    remaining -= found.paths.front().ms;
    at += group.size();
  }
  for (PlannedWorkflow& plan : plans) out.plans.push_back(totals_of(model, std::move(plan.stages)));
  return out;
}

Result<PlanAnswer> ask_label(const WorkflowModel& model, const PlanQuestion& question) {
  const auto chain = chain_from(model, question.from);
  if (!chain) return needs_chain("label");
  std::vector<plan::Candidates> stages;
  for (const std::size_t stage : *chain) stages.push_back(scaled(model.stages[stage]));
  const plan::SortedStages sorted(stages, question.queue, plan::SortedStages::Keep::pareto);
  plan::SearchWorkspace workspace;
  plan::SearchResult found;
  PlanAnswer out;
  out.search_us =
      median_us(question.repeat, [&] { found = plan::label_search(sorted, question.remaining_ms, workspace); });
  out.expansions = found.expansions;
  for (const plan::Path& path : found.paths) out.plans.push_back(totals_of(model, chosen(*chain, path.candidates)));
  return out;
}

namespace {

// Every assignment of a whole workflow with branches; only from its first stage.
Result<PlanAnswer> brute_force_tree(const WorkflowModel& model, const PlanQuestion& question) {
  if (question.from != 0) return needs_chain("brute-force with --from");
  std::vector<plan::Candidates> stages;
  std::vector<std::vector<std::uint32_t>> original(model.stages.size());  // positions before the cap took some out
  PlanAnswer out{.expansions = 1};
  for (std::size_t s = 0; s < model.stages.size(); ++s) {
    plan::Candidates within;
    const plan::Candidates all = scaled(model.stages[s]);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].configuration.batch > question.queue) continue;
      within.push_back(all[i]);
      original[s].push_back(i);
    }
    out.expansions *= within.size();
    stages.push_back(std::move(within));
  }
  Result<std::vector<plan::Assignment>> found = std::vector<plan::Assignment>{};
  out.search_us = median_us(question.repeat, [&] { found = plan::brute_force_frontier({model.tree, stages}); });
  if (!found) return found.error();
  const plan::Assignment* best = nullptr;
  for (const plan::Assignment& a : *found) {
    if (a.totals.ms <= question.remaining_ms) best = &a;  // by ms ascending, so cost falls
  }
  if (best == nullptr) return out;
  std::vector<ChosenStage> picked;
  for (std::size_t s = 0; s < stages.size(); ++s) picked.push_back({s, original[s][best->candidates[s]]});
  out.plans.push_back(totals_of(model, std::move(picked)));
  return out;
}

}  // namespace

Result<PlanAnswer> ask_brute_force(const WorkflowModel& model, const PlanQuestion& question) {
  const auto chain = chain_from(model, question.from);
  if (!chain) return brute_force_tree(model, question);
  std::vector<plan::Candidates> stages;
  for (const std::size_t stage : *chain) stages.push_back(scaled(model.stages[stage]));
  PlanAnswer out;
  out.expansions = 1;
  for (const plan::Candidates& candidates : stages) {
    out.expansions *=
        static_cast<std::uint64_t>(std::count_if(candidates.begin(), candidates.end(), [&](const plan::Candidate& c) {
          return c.configuration.batch <= question.queue;
        }));
  }
  Result<std::vector<plan::ChosenPath>> found = std::vector<plan::ChosenPath>{};
  out.search_us = median_us(question.repeat, [&] {
    found = plan::brute_force({.stages = stages, .budget_ms = question.remaining_ms, .batch_cap = question.queue},
                              question.top + 1);
  });
  if (!found) return found.error();
  for (const plan::ChosenPath& path : *found) out.plans.push_back(totals_of(model, chosen(*chain, path.candidates)));
  return out;
}

}  // namespace sluice::cli
