#include "cli/summary.h"

#include <fmt/format.h>

#include "base/check.h"
#include "domain/dominators.h"
#include "domain/graph.h"
#include "domain/paths.h"
#include "domain/series_parallel.h"
#include "domain/wiring.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kShapeLengthMax = 400;  // a workflow of thousands of stages is not readable on one line anyway

// The series-parallel tree as one line.
class Shape {
 public:
  Shape(const SeriesParallelTree& tree, const Workflow& workflow) : tree_(tree), workflow_(workflow) {}
  std::string text() {
    write(tree_.root(), false);
    if (out_.size() > kShapeLengthMax) out_ = out_.substr(0, out_.rfind(' ', kShapeLengthMax)) + " …";
    return out_;
  }

 private:
  using Kind = SeriesParallelTree::Kind;
  // Stops early: the depth of the recursion is bounded by the length of the text, two characters a level.
  void write(SeriesParallelTree::Index index, bool nested) {
    if (out_.size() > kShapeLengthMax) return;
    const SeriesParallelTree::Node& node = tree_.nodes[index];
    switch (node.kind) {
      case Kind::stage:
        out_ += workflow_.stages[node.stage].name;
        break;
      case Kind::empty:
        out_ += "–";
        break;
      case Kind::series:
        list(node, " → ", nested);
        break;
      case Kind::parallel:
        list(node, " ‖ ", true, node.needed < node.child_count ? fmt::format("{} of ", node.needed) : "");
        break;
      case Kind::irregular:
        list(node, ", ", true, "irregular ");
        break;
    }
  }
  void list(const SeriesParallelTree::Node& node, std::string_view separator, bool brackets,
            const std::string& prefix = "") {
    out_ += prefix;
    if (brackets) out_ += "(";
    bool first = true;
    for (const SeriesParallelTree::Index child : tree_.children_of(node)) {
      if (!first) out_ += separator;
      first = false;
      write(child, true);
    }
    if (brackets) out_ += ")";
  }

  const SeriesParallelTree& tree_;
  const Workflow& workflow_;
  std::string out_;
};

std::string runs(const Application& application, const Stage& stage) {
  if (stage.foreach && !stage.foreach->body.empty())
    return fmt::format("workflow of {} stages", stage.foreach->body.front().size());
  switch (stage.kind) {
    case Stage::Kind::run:
      return application.function(stage.function).name;
    case Stage::Kind::pass:
      return "pass";
    case Stage::Kind::fail:
      return "fail " + stage.failure.error;
  }
  return "";
}

StageSummary summarize_stage(const Application& application, const Dominators& dominators, StageId id) {
  const Workflow& workflow = application.workflow;
  const Stage& stage = workflow.at(id);
  StageSummary out{.name = stage.name, .runs = runs(application, stage)};
  for (const StageId before : stage.after) out.after.push_back(workflow.at(before).name);
  if (stage.after.size() > 1) {
    out.join = stage.join.kind == Join::Kind::all   ? "all"
               : stage.join.kind == Join::Kind::any ? "any"
                                                    : fmt::format("{}", stage.join.count);
  }
  if (stage.when) out.when = sluice::describe(*stage.when, workflow);
  if (stage.foreach) {
    out.foreach = sluice::describe(stage.foreach->over, workflow);
    if (stage.foreach->limit > 0) out.foreach += fmt::format(", {} at a time", stage.foreach->limit);
  }
  for (const InputBinding& binding : wiring(application, workflow, id)) {
    const std::string from = sluice::describe(binding.from, workflow);
    out.reads.push_back(binding.input == kEverything ? from : fmt::format("{} ← {}", binding.input, from));
  }
  const Graph::Node dominator = dominators.immediate[id.index()];
  if (dominator != Dominators::kNone) out.dominator = workflow.stages[dominator].name;
  return out;
}

}  // namespace

WorkflowSummary summarize(const Application& application) {
  const Workflow& workflow = application.workflow;
  const auto made = Graph::make(workflow);
  const auto* graph = std::get_if<Graph>(&made);
  CHECK(graph != nullptr);  // a document with a cycle does not get here
  WorkflowSummary out;
  const Dominators dominator_tree = dominators(*graph);
  std::vector<std::uint32_t> needed;
  for (std::size_t i = 0; i < workflow.size(); ++i) {
    out.stages.push_back(summarize_stage(application, dominator_tree, StageId(static_cast<StageId::rep>(i))));
    needed.push_back(static_cast<std::uint32_t>(workflow.stages[i].join.needed(workflow.stages[i].after.size())));
  }
  for (const Graph::Node node : graph->entries()) out.entries.push_back(workflow.stages[node].name);
  for (const Graph::Node node : graph->exits()) out.exits.push_back(workflow.stages[node].name);
  out.paths = count_paths(*graph);
  out.longest = static_cast<std::size_t>(longest_paths(*graph, std::vector<double>(workflow.size(), 1.0)).length);
  const SeriesParallelTree tree = series_parallel(*graph, needed);
  for (const SeriesParallelTree::Node& node : tree.nodes)
    out.irregular += node.kind == SeriesParallelTree::Kind::irregular;
  out.shape = Shape(tree, workflow).text();
  return out;
}

std::string describe(const Objective& objective) {
  std::string out = to_string(objective.latency);
  out += objective.percentile ? fmt::format(" at percentile {}", *objective.percentile) : " for as many as possible";
  if (objective.cost) out += fmt::format(", at most ${} a request", *objective.cost);
  return out;
}

}  // namespace sluice::cli
