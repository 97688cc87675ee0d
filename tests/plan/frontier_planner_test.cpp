// The frontier against brute force: random workflows, every first configuration, every stage.
#include "plan/frontier_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/rng.h"
#include "plan/fastest_rest.h"
#include "plan/rivals/tree_brute_force.h"
#include "support/random_candidates.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

namespace tb = tree_builder;

// A random shape over stages counted up in `next`; at most about `budget` of them.
tb::Shape random_shape(Rng& rng, std::uint32_t& next, int budget, int depth) {
  if (budget <= 1 || depth == 0 || rng.chance(0.3)) return tb::stage(next++);
  const std::uint64_t parts = 2 + rng.below(static_cast<std::uint64_t>(std::min(budget, 3) - 1));
  std::vector<tb::Shape> children;
  const bool in_series = rng.chance(0.5);
  for (std::uint64_t i = 0; i < parts; ++i) {
    tb::Shape child = random_shape(rng, next, budget / static_cast<int>(parts), depth - 1);
    const auto kind = child.node.kind;
    // A series has no series inside, as in trees made from graphs.
    if (in_series && kind == tb::Kind::series) {
      for (tb::Shape& inner : child.children) children.push_back(std::move(inner));
    } else {
      children.push_back(std::move(child));
    }
  }
  if (in_series) return tb::series(std::move(children));
  if (rng.chance(0.2)) children.push_back(tb::empty());
  if (rng.chance(0.4)) {
    const auto needed = static_cast<std::uint32_t>(1 + rng.below(children.size()));
    return tb::parallel_needing(needed, std::move(children));
  }
  return tb::parallel(std::move(children));
}

WorkflowModel random_model(Rng& rng, bool chain) {
  std::uint32_t stages = 0;
  WorkflowModel model;
  if (chain) {
    stages = static_cast<std::uint32_t>(1 + rng.below(4));
    model.tree = stages == 1 ? tb::tree_of(tb::stage(0)) : tb::chain_of(stages);
  } else {
    model.tree = tb::tree_of(random_shape(rng, stages, 5, 4));
  }
  for (std::uint32_t i = 0; i < stages; ++i) {
    ModelStage stage{.name = std::to_string(i), .candidates = random_candidates(rng, 1 + rng.below(4), false)};
    if (rng.chance(0.3)) stage.scale = {1, rng.uniform(0.1, 1)};  // alternatives
    if (rng.chance(0.2))
      stage.scale =
          foreach_scale(static_cast<std::uint32_t>(1 + rng.below(5)), static_cast<std::uint32_t>(rng.below(3)));
    if (rng.chance(0.2)) stage.wait_ms = rng.uniform(0, 30);
    model.stages.push_back(std::move(stage));
  }
  return model;
}

// The stages as brute force wants them: capped, waiting time included, those in `done` at no cost.
std::vector<Candidates> capped(const WorkflowModel& model, BatchCap cap) {
  std::vector<Candidates> out;
  for (const ModelStage& stage : model.stages) {
    Candidates candidates;
    for (const Candidate& c : stage.candidates) {
      if (c.configuration.batch > cap) continue;
      const StageTerms terms = stage.scale.of(c.ms, c.cost);
      candidates.push_back({c.configuration, terms.ms + stage.wait_ms, terms.cost});
    }
    out.push_back(std::move(candidates));
  }
  return out;
}

std::optional<Dollars> cheapest(const SeriesParallelTree& tree, const std::vector<Candidates>& stages,
                                double budget_ms) {
  const auto all = brute_force_frontier({tree, stages});
  EXPECT_TRUE(all.ok());
  std::optional<Dollars> best;
  for (const Assignment& a : *all) {
    if (a.totals.ms <= budget_ms && (!best || a.totals.cost < *best)) best = a.totals.cost;
  }
  return best;
}

// Stages that must have finished before `stage` starts.
std::set<std::uint32_t> before(const WorkflowModel& model, std::size_t stage) {
  const TreeLinks links(model);
  std::set<std::uint32_t> out;
  const auto add_all = [&](auto&& self, SeriesParallelTree::Index node) -> void {
    if (model.tree.nodes[node].kind == tb::Kind::stage) out.insert(model.tree.nodes[node].stage);
    for (const auto child : model.tree.children_of(model.tree.nodes[node])) self(self, child);
  };
  for (auto node = links.leaf[stage]; node != model.tree.root(); node = links.parent[node]) {
    const auto& parent = model.tree.nodes[links.parent[node]];
    if (parent.kind != tb::Kind::series) continue;
    for (std::uint32_t i = 0; i < links.position[node]; ++i) add_all(add_all, model.tree.children_of(parent)[i]);
  }
  return out;
}

// Compares every option of a query with brute force; the number of options.
std::size_t expect_exact(const WorkflowModel& model, const FrontierPlanner& planner, std::size_t stage, BatchCap cap,
                         double budget_ms, FrontierWorkspace& workspace) {
  std::vector<Candidates> stages = capped(model, cap);
  for (const std::uint32_t done : before(model, stage)) stages[done] = {{configuration(1, 0, 0), 0, 0}};
  const auto found = planner.query(stage, cap, budget_ms, workspace);
  const std::vector<Option> options(found.begin(), found.end());
  EXPECT_TRUE(
      std::is_sorted(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.cost < b.cost; }));
  for (std::uint32_t c = 0; c < model.stages[stage].candidates.size(); ++c) {
    const Candidate& candidate = model.stages[stage].candidates[c];
    const auto option = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.candidate == c; });
    if (candidate.configuration.batch > cap) {
      EXPECT_EQ(option, options.end());
      continue;
    }
    const StageTerms terms = model.stages[stage].scale.of(candidate.ms, candidate.cost);
    std::vector<Candidates> fixed = stages;
    fixed[stage] = {{candidate.configuration, terms.ms + model.stages[stage].wait_ms, terms.cost}};
    const auto best = cheapest(model.tree, fixed, budget_ms);
    EXPECT_EQ(option != options.end(), best.has_value())
        << "stage " << stage << " candidate " << c << " budget " << budget_ms;
    if (!best || option == options.end()) continue;
    EXPECT_NEAR(option->cost, *best, 1e-9 * *best + 1e-15) << "stage " << stage << " candidate " << c;
    // The plan behind the option is what it says: it costs as much and meets the budget.
    const Plan plan = planner.plan_of(stage, *option, workspace);
    std::vector<StageTerms> chosen(stages.size());
    for (const ChosenStage& s : plan.stages) {
      const ModelStage& of = model.stages[s.stage];
      chosen[s.stage] = of.scale.of(of.candidates[s.candidate].ms, of.candidates[s.candidate].cost);
      chosen[s.stage].ms += of.wait_ms;
    }
    const Totals totals = evaluate(model.tree, chosen);
    EXPECT_NEAR(totals.cost, option->cost, 1e-9 * option->cost + 1e-15);
    EXPECT_LE(totals.ms, budget_ms * (1 + 1e-12));
  }
  return options.size();
}

double random_budget(Rng& rng, const FrontierPlanner& planner, std::size_t stage, BatchCap cap) {
  const double fastest = FastestRest(planner.model(), cap).from(planner.model(), stage);
  return std::isfinite(fastest) ? fastest * rng.uniform(0.9, 2.5) : 100;
}

TEST(FrontierPlanner, EqualsBruteForceOnChainsForEveryFirstConfiguration) {
  Rng rng(11);
  FrontierWorkspace workspace;
  std::size_t options = 0;
  for (int i = 0; i < 1500; ++i) {
    const WorkflowModel model = random_model(rng, true);
    const FrontierPlanner planner(model);
    const std::size_t stage = rng.below(model.stages.size());
    const auto cap = static_cast<BatchCap>(1 + rng.below(10));
    options += expect_exact(model, planner, stage, cap, random_budget(rng, planner, stage, cap), workspace);
  }
  EXPECT_GT(options, 1000u);
}

TEST(FrontierPlanner, EqualsBruteForceOnForksJoinsAlternativesAndFanOuts) {
  Rng rng(12);
  FrontierWorkspace workspace;
  std::size_t options = 0;
  for (int i = 0; i < 3000; ++i) {
    const WorkflowModel model = random_model(rng, false);
    const FrontierPlanner planner(model);
    const std::size_t stage = rng.below(model.stages.size());
    const auto cap = static_cast<BatchCap>(1 + rng.below(10));
    options += expect_exact(model, planner, stage, cap, random_budget(rng, planner, stage, cap), workspace);
    if (testing::Test::HasFailure()) FAIL() << "instance " << i;
  }
  EXPECT_GT(options, 2000u);
}

// A budget of the least time leaves a plan, and one of less none (by more than rounding: queries allow for a part in
// 10⁹).
TEST(FastestRest, IsWhereFrontiersBegin) {
  Rng rng(17);
  FrontierWorkspace workspace;
  std::size_t possible = 0, impossible = 0;
  for (int i = 0; i < 2000; ++i) {
    const WorkflowModel model = random_model(rng, false);
    const FrontierPlanner planner(model);
    const auto cap = static_cast<BatchCap>(1 + rng.below(10));
    const FastestRest rest(model, cap);
    const std::size_t stage = rng.below(model.stages.size());
    const double ms = rest.from(model, stage);
    if (std::isinf(ms)) {
      EXPECT_TRUE(planner.query(stage, cap, 1e9, workspace).empty()) << i;
      ++impossible;
      continue;
    }
    ++possible;
    EXPECT_FALSE(planner.query(stage, cap, ms * (1 + 1e-12), workspace).empty()) << i;
    if (ms == 0) continue;  // a direct edge is enough
    EXPECT_TRUE(planner.query(stage, cap, ms * (1 - 1e-8), workspace).empty()) << i;
  }
  EXPECT_GT(possible, 500u);
  EXPECT_GT(impossible, 100u);
}

TEST(FrontierPlanner, WholeFrontierEqualsBruteForceOnIrregularWorkflows) {
  Rng rng(14);
  for (int i = 0; i < 400; ++i) {
    WorkflowModel model;
    const std::uint32_t needed = rng.chance(0.3) ? 1 : 0;
    model.tree = tb::tree_of(
        tb::series({tb::stage(0), tb::irregular({tb::stage(1), tb::stage(2), tb::stage(3, needed), tb::stage(4)},
                                                {{0, 2}, {1, 2}, {1, 3}})}));
    for (int s = 0; s < 5; ++s)
      model.stages.push_back(
          {.name = std::to_string(s), .candidates = random_candidates(rng, 1 + rng.below(4), false)});
    const FrontierPlanner planner(model);
    const BatchCap cap = 8;
    const Frontier& whole = planner.whole(cap);
    const auto all = brute_force_frontier({model.tree, capped(model, cap)});
    ASSERT_TRUE(all.ok());
    ASSERT_EQ(whole.size(), all->size());
    for (std::size_t p = 0; p < whole.size(); ++p) {
      EXPECT_NEAR(whole[p].ms, (*all)[p].totals.ms, 1e-9);
      EXPECT_NEAR(whole[p].cost, (*all)[p].totals.cost, 1e-12);
    }
    // Inside the region plans are feasible and cost what they say.
    FrontierWorkspace workspace;
    for (std::size_t stage = 1; stage < 5; ++stage) {
      const double budget = FastestRest(planner.model(), cap).from(planner.model(), stage) * 1.5;
      (void)planner.query(stage, cap, budget, workspace);
      for (const Option& option : std::vector<Option>(workspace.options)) {
        const Plan plan = planner.plan_of(stage, option, workspace);
        std::vector<StageTerms> chosen(5);
        for (const ChosenStage& s : plan.stages)
          chosen[s.stage] = {model.stages[s.stage].candidates[s.candidate].ms,
                             model.stages[s.stage].candidates[s.candidate].cost};
        chosen[0] = {};
        const Totals totals = evaluate(model.tree, chosen);
        EXPECT_LE(totals.ms, budget * (1 + 1e-12));
        EXPECT_NEAR(totals.cost, option.cost, 1e-12);
      }
    }
  }
}

TEST(FrontierPlanner, MoreTimeOrMoreConfigurationsNeverCostMore) {
  Rng rng(15);
  FrontierWorkspace workspace;
  for (int i = 0; i < 500; ++i) {
    WorkflowModel model = random_model(rng, false);
    const FrontierPlanner planner(model);
    const Frontier& whole = planner.whole(8);
    if (whole.empty()) continue;
    double last = INFINITY;
    for (double budget = whole.fastest_ms(); budget < whole.fastest_ms() * 3; budget *= 1.1) {
      const Dollars cost = whole[whole.within(budget)].cost;
      EXPECT_LE(cost, last);
      last = cost;
    }
    const double budget = whole.fastest_ms() * rng.uniform(1, 2);
    const Dollars before_adding = whole[whole.within(budget)].cost;
    model.stages[rng.below(model.stages.size())].candidates.push_back(random_candidates(rng, 1, false).front());
    const FrontierPlanner larger(model);
    EXPECT_LE(larger.whole(8)[larger.whole(8).within(budget)].cost, before_adding * (1 + 1e-12));
  }
}

TEST(FrontierPlanner, ThinnedPlansStayWithinTheBoundItPrints) {
  Rng rng(16);
  std::size_t thinned_ones = 0;
  for (int i = 0; i < 200; ++i) {
    WorkflowModel model;
    model.tree =
        tb::tree_of(tb::series({tb::stage(0), tb::parallel({tb::stage(1), tb::series({tb::stage(2), tb::stage(3)})}),
                                tb::stage(4), tb::stage(5)}));
    for (int s = 0; s < 6; ++s)
      model.stages.push_back({.name = std::to_string(s), .candidates = random_candidates(rng, 40, false)});
    const FrontierPlanner exact(model, {.points_max = 1u << 20});
    const FrontierPlanner coarse(model, {.points_max = 6});
    const Frontier &a = exact.whole(8), &b = coarse.whole(8);
    EXPECT_EQ(exact.error_bound(8), 0);
    thinned_ones += coarse.error_bound(8) > 0;
    for (const Frontier::Point& point : a.points()) {
      const std::size_t at = b.within(point.ms);
      ASSERT_NE(at, Frontier::kNone);
      EXPECT_GE(b[at].cost, point.cost - 1e-15);
      EXPECT_LE(b[at].cost, point.cost * (1 + coarse.error_bound(8)) + 1e-15);
    }
  }
  EXPECT_GT(thinned_ones, 150u);
}

// A stage whose frontier has `count` points.
Candidates many_candidates(Rng& rng, int count) {
  Candidates out;
  for (int i = 0; i < count; ++i) {
    const double ms = 10 + i + rng.uniform(0, 1);
    out.push_back({configuration(1, 1 + i, 0), ms, 1e-3 / ms});
  }
  return out;
}

TEST(FrontierPlanner, LargeProductsInsideParallelRegionsStayWithinTheErrorTheySay) {
  Rng rng(18);
  WorkflowModel model;
  model.tree =
      tb::tree_of(tb::series({tb::parallel({tb::series({tb::stage(0), tb::stage(1), tb::stage(2)}), tb::stage(3)}),
                              tb::stage(4), tb::stage(5)}));
  for (int s = 0; s < 6; ++s)
    model.stages.push_back({.name = std::to_string(s), .candidates = many_candidates(rng, 40)});
  const FrontierOptions exact{.points_max = 1u << 20};
  const FrontierPlanner planner(model, exact);
  FrontierWorkspace workspace;
  const double budget = FastestRest(planner.model(), 1).from(planner.model(), 0) * 2;
  (void)planner.query(0, 1, budget, workspace);
  const double error = workspace.rest.error();
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.05);
  const std::vector<Option> options = workspace.options;
  ASSERT_GT(options.size(), 30u);
  for (std::size_t i = 0; i < options.size(); i += 5) {
    WorkflowModel fixed = model;
    fixed.stages[0].candidates = {model.stages[0].candidates[options[i].candidate]};
    const FrontierPlanner oracle(fixed, exact);
    const Dollars best = oracle.whole(1)[oracle.whole(1).within(budget)].cost;
    EXPECT_GE(options[i].cost, best * (1 - 1e-12));
    EXPECT_LE(options[i].cost, best * (1 + error));
    const Plan plan = planner.plan_of(0, options[i], workspace);
    std::vector<StageTerms> chosen(6);
    for (const ChosenStage& s : plan.stages) {
      const Candidate& candidate = model.stages[s.stage].candidates[s.candidate];
      chosen[s.stage] = {candidate.ms, candidate.cost};
    }
    const Totals totals = evaluate(model.tree, chosen);
    EXPECT_NEAR(totals.cost, options[i].cost, 1e-12);
    EXPECT_LE(totals.ms, budget * (1 + 1e-12));
  }
}

TEST(FrontierPlanner, HasNoPlanWhereThereIsNone) {
  WorkflowModel model;
  model.tree = tb::chain_of(2);
  model.stages = {{.name = "a", .candidates = {{configuration(1, 1, 1), 10, 1}}},
                  {.name = "b", .candidates = {{configuration(4, 1, 1), 10, 1}}}};
  const FrontierPlanner planner(model);
  FrontierWorkspace workspace;
  EXPECT_TRUE(planner.query(0, 1, 1e9, workspace).empty());  // b has no batch of 1
  EXPECT_TRUE(planner.query(0, 0, 1e9, workspace).empty());
  EXPECT_TRUE(planner.query(0, 4, 0, workspace).empty());
  EXPECT_TRUE(planner.query(0, 4, 19.9, workspace).empty());
  EXPECT_EQ(planner.query(0, 4, 20, workspace).size(), 1u);
  EXPECT_EQ(FastestRest(planner.model(), 1).from(planner.model(), 0), INFINITY);
  EXPECT_EQ(FastestRest(planner.model(), 4).from(planner.model(), 0), 20);
}

}  // namespace
}  // namespace sluice::plan
