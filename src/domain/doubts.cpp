#include "domain/doubts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "domain/dominators.h"
#include "domain/graph.h"

namespace sluice {
namespace {

// Whether a condition that holds says that there is something of this stage.
bool vouches_for(const Condition& condition, StageId stage) {
  if (condition.kind == Condition::Kind::compare) return condition.comparison.left.stage == stage;
  const auto vouches = [&](const Condition& term) { return vouches_for(term, stage); };
  if (condition.kind == Condition::Kind::all)
    return std::any_of(condition.terms.begin(), condition.terms.end(), vouches);
  return condition.kind == Condition::Kind::any && std::all_of(condition.terms.begin(), condition.terms.end(), vouches);
}

class WorkflowDoubts {
 public:
  WorkflowDoubts(const Workflow& workflow, std::vector<std::string> path, std::vector<Problem>& out)
      : workflow_(workflow),
        path_(std::move(path)),
        out_(out),
        dominators_(dominators(std::get<Graph>(Graph::make(workflow)))) {
    for (const Stage& stage : workflow.stages) {
      for (const Catch& handled : stage.catches) handlers_.insert(handled.handler);
    }
  }

  void run() {
    for (std::size_t i = 0; i < workflow_.size(); ++i) {
      const StageId id(static_cast<StageId::rep>(i));
      const Stage& stage = workflow_.at(id);
      for (const InputBinding& binding : stage.inputs) look_at(id, binding.from.stage);
      if (!stage.foreach || stage.foreach->body.empty()) continue;
      std::vector<std::string> path = path_;
      path.push_back(stage.name);
      WorkflowDoubts(stage.foreach->body.front(), std::move(path), out_).run();
    }
  }

 private:
  [[nodiscard]] bool is_skipped_sometimes(StageId id) const {
    const Stage& stage = workflow_.at(id);
    return stage.when.has_value() || (stage.after.empty() && handlers_.contains(id));
  }

  void look_at(StageId reader, StageId source) {
    if (!source.valid()) return;
    const Stage& stage = workflow_.at(reader);
    if (stage.when && vouches_for(*stage.when, source)) return;
    // What skips the source skips whatever comes after nothing else: the reader too, if all ways lead through it.
    for (Graph::Node node = source.value(); node != Dominators::kNone; node = dominators_.immediate[node]) {
      if (!is_skipped_sometimes(StageId(node)) || dominators_.dominates(node, reader.value())) continue;
      const std::string& skipped = workflow_.at(StageId(node)).name;
      report(reader, str("reads '", name(source), "', but runs also where '", skipped,
                         "' is skipped, and fails there; give it a condition ({", name(source),
                         ".OUTPUT: present}), or read what is always there"));
      return;
    }
    const bool waits_for_all = stage.join.kind == Join::Kind::all || stage.after.size() == 1;
    if (!waits_for_all && std::find(stage.after.begin(), stage.after.end(), source) != stage.after.end()) {
      report(reader, str("reads '", name(source), "', but `join` lets it start before that one has finished"));
    }
  }

  [[nodiscard]] const std::string& name(StageId id) const { return workflow_.at(id).name; }
  void report(StageId id, std::string message) {
    std::vector<std::string> path = path_;
    path.push_back(name(id));
    out_.push_back({std::move(path), "inputs", std::move(message)});
  }

  const Workflow& workflow_;
  std::vector<std::string> path_;
  std::vector<Problem>& out_;
  Dominators dominators_;
  std::set<StageId> handlers_;
};

}  // namespace

std::vector<Problem> doubts(const Application& application) {
  std::vector<Problem> out;
  WorkflowDoubts(application.workflow, {}, out).run();
  return out;
}

}  // namespace sluice
