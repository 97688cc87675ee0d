#include "spec/canonical.h"

#include <algorithm>
#include <queue>

#include "base/check.h"

namespace sluice::spec {
namespace {

void renumber(Reference& reference, const std::vector<StageId>& now) {
  if (reference.stage.valid()) reference.stage = now[reference.stage.index()];
}

void renumber(Condition& condition, const std::vector<StageId>& now) {
  renumber(condition.comparison.left, now);
  for (Condition& term : condition.terms) renumber(term, now);
}

void renumber(Stage& stage, const std::vector<StageId>& now) {
  for (StageId& before : stage.after) before = now[before.index()];
  std::sort(stage.after.begin(), stage.after.end());
  for (InputBinding& binding : stage.inputs) renumber(binding.from, now);
  if (stage.when) renumber(*stage.when, now);
  if (stage.foreach) renumber(stage.foreach->over, now);
  for (Catch& c : stage.catches) c.handler = now[c.handler.index()];
  std::sort(stage.catches.begin(), stage.catches.end(),
            [](const Catch& a, const Catch& b) { return a.error < b.error; });
}

// For each stage its place in topological order, equals by name.
std::vector<StageId> places(const Workflow& workflow) {
  const std::size_t n = workflow.size();
  std::vector<std::vector<std::size_t>> successors(n);
  std::vector<std::size_t> waiting(n);
  for (std::size_t i = 0; i < n; ++i) {
    waiting[i] = workflow.stages[i].after.size();
    for (const StageId before : workflow.stages[i].after) successors[before.index()].push_back(i);
  }
  const auto later = [&](std::size_t a, std::size_t b) { return workflow.stages[a].name > workflow.stages[b].name; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < n; ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<StageId> now(n);
  StageId::rep place = 0;
  for (; !ready.empty(); ++place) {
    const std::size_t stage = ready.top();
    ready.pop();
    now[stage] = StageId(place);
    for (const std::size_t next : successors[stage]) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  CHECK(place == n);
  return now;
}

std::vector<StageId> sort_stages(Workflow& workflow) {
  const std::vector<StageId> now = places(workflow);
  std::vector<Stage> sorted(workflow.size());
  for (std::size_t i = 0; i < workflow.size(); ++i) {
    renumber(workflow.stages[i], now);
    sorted[now[i].index()] = std::move(workflow.stages[i]);
  }
  workflow.stages = std::move(sorted);
  for (Stage& stage : workflow.stages) {
    if (stage.foreach && !stage.foreach->body.empty()) (void)sort_stages(stage.foreach->body.front());
  }
  return now;
}

template <class Visit>
void for_each_run_stage(Workflow& workflow, const Visit& visit) {
  for (Stage& stage : workflow.stages) {
    if (stage.kind == Stage::Kind::run) visit(stage);
    if (stage.foreach && !stage.foreach->body.empty()) for_each_run_stage(stage.foreach->body.front(), visit);
  }
}

void keep_used_functions(Application& application) {
  std::vector<bool> used(application.functions.size());
  for_each_run_stage(application.workflow, [&](const Stage& stage) { used[stage.function.index()] = true; });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return application.functions[a].name < application.functions[b].name;
  });
  std::vector<FunctionId> now(used.size());
  std::vector<Function> kept;
  for (const std::size_t i : order) {
    now[i] = FunctionId(static_cast<FunctionId::rep>(kept.size()));
    kept.push_back(std::move(application.functions[i]));
  }
  application.functions = std::move(kept);
  for_each_run_stage(application.workflow, [&](Stage& stage) { stage.function = now[stage.function.index()]; });
}

}  // namespace

void make_canonical(Application& application) {
  const std::vector<StageId> now = sort_stages(application.workflow);
  for (OutputBinding& output : application.outputs) renumber(output.from, now);
  std::sort(application.outputs.begin(), application.outputs.end(),
            [](const OutputBinding& a, const OutputBinding& b) { return a.name < b.name; });
  keep_used_functions(application);
}

}  // namespace sluice::spec
