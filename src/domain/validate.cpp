#include "domain/validate.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "domain/alternatives.h"
#include "domain/graph.h"
#include "domain/limits.h"
#include "domain/reachability.h"
#include "domain/wiring.h"

namespace sluice {
namespace {

// Checks one workflow of an application: the main one, or the body of a foreach (then `path_` leads to it).
class WorkflowCheck {
 public:
  WorkflowCheck(const Application& application, const Workflow& workflow, std::vector<std::string> path,
                std::vector<Problem>& problems)
      : application_(application), workflow_(workflow), path_(std::move(path)), problems_(problems) {}

  void run() {
    if (workflow_.size() == 0) return report_workflow("workflow", "has no stages");
    auto made = Graph::make(predecessors());
    if (const auto* cycle = std::get_if<std::vector<Graph::Node>>(&made)) return report_cycle(*cycle);
    const Graph& graph = std::get<Graph>(made);
    for (std::size_t i = 0; i < workflow_.size(); ++i) stage(StageId(static_cast<StageId::rep>(i)));
    alternatives();
    unreached();
    order_of_references(graph);
    bodies();
  }

 private:
  void report(StageId stage, std::string field, std::string message) {
    std::vector<std::string> path = path_;
    path.push_back(workflow_.at(stage).name);
    problems_.push_back({std::move(path), std::move(field), std::move(message)});
  }
  void report_workflow(std::string field, std::string message) {
    problems_.push_back({path_, std::move(field), std::move(message)});
  }

  const std::string& name(StageId id) const { return workflow_.at(id).name; }

  // `after` edges, and an edge from every stage to the handlers of its errors.
  std::vector<std::vector<Graph::Node>> predecessors() const {
    std::vector<std::vector<Graph::Node>> out(workflow_.size());
    for (std::size_t i = 0; i < workflow_.size(); ++i) {
      for (const StageId before : workflow_.stages[i].after) out[i].push_back(before.value());
      for (const Catch& c : workflow_.stages[i].catches) out[c.handler.index()].push_back(static_cast<Graph::Node>(i));
    }
    return out;
  }

  void report_cycle(const std::vector<Graph::Node>& cycle) {
    constexpr std::size_t kNamedMax = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(cycle.size(), kNamedMax); ++i)
      text += str("'", workflow_.stages[cycle[i]].name, "' → ");
    if (cycle.size() > kNamedMax) text += str("… (", cycle.size() - kNamedMax, " more) → ");
    const StageId first(cycle.front());
    report(first, "after", str("stages wait for each other in a circle: ", text, "'", name(first), "'"));
  }

  void stage(StageId id) {
    const Stage& stage = workflow_.at(id);
    if (stage.name == "request")
      report(id, "", "'request' stands for the call's own inputs; give the stage another name");
    join(id, stage);
    catches(id, stage);
    configurations(id, stage);
    ports(id, stage);
  }

  void join(StageId id, const Stage& stage) {
    const std::size_t predecessors = stage.after.size();
    if (stage.join.kind == Join::Kind::all) return;
    if (predecessors == 0) return report(id, "join", "the stage has no predecessors to wait for; add `after`");
    if (stage.join.kind == Join::Kind::at_least && (stage.join.count < 1 || stage.join.count > predecessors)) {
      report(id, "join", str("can never fire: needs ", stage.join.count, " of ", predecessors, " predecessors"));
    }
  }

  void catches(StageId id, const Stage& stage) {
    std::set<std::string_view> seen;
    for (const Catch& c : stage.catches) {
      if (!seen.insert(c.error).second) report(id, "catch", str("the error '", c.error, "' is caught twice"));
    }
  }

  void configurations(StageId id, const Stage& stage) {
    if (stage.configurations.empty() || stage.kind != Stage::Kind::run) return;
    const Profile& profile = application_.function(stage.function).profile;
    const auto none_left = [&](const auto& wanted, const auto& there) {
      return !wanted.empty() && std::none_of(wanted.begin(), wanted.end(), [&](const auto& value) {
        return std::find(there.begin(), there.end(), value) != there.end();
      });
    };
    bool empty = false;
    if (const auto* table = std::get_if<ProfileTable>(&profile)) {
      empty = std::none_of(table->rows.begin(), table->rows.end(),
                           [&](const ProfileRow& row) { return stage.configurations.allows(row.configuration); });
    } else if (const auto* model = std::get_if<ProfileModel>(&profile)) {
      empty = none_left(stage.configurations.batch, model->batch) ||
              none_left(stage.configurations.vcpu, model->vcpu) ||
              none_left(stage.configurations.slices, model->slices) ||
              none_left(stage.configurations.device, std::array{DeviceKind::gpu()});  // a model answers for GPUs
    }
    if (empty)
      report(id, "configurations",
             str("allows none of the configurations in the profile of '", application_.function(stage.function).name,
                 "'"));
  }

  // Names, types and ranks of what is wired, as far as they are declared.
  void ports(StageId id, const Stage& stage) {
    const std::vector<Port>* inputs = declared_inputs(application_, stage);
    std::set<std::string_view> seen;
    for (const InputBinding& binding : stage.inputs) {
      if (!seen.insert(binding.input).second)
        report(id, "inputs", str("the input '", binding.input, "' is wired twice"));
      if (inputs != nullptr && find(*inputs, binding.input) == nullptr) {
        report(id, "inputs",
               str("'", application_.function(stage.function).name, "' has no input '", binding.input, "'.",
                   known(*inputs, binding.input)));
      }
      output_exists(id, "inputs", binding.from);
    }
    if (stage.foreach) output_exists(id, "foreach", stage.foreach->over);
    if (stage.when) condition_outputs(id, *stage.when);
    if (inputs == nullptr) return;
    const std::vector<InputBinding> wired = wiring(application_, workflow_, id);
    for (const Port& input : *inputs) {
      const auto it =
          std::find_if(wired.begin(), wired.end(), [&](const InputBinding& b) { return b.input == input.name; });
      if (it == wired.end())
        unwired(id, stage, input);
      else if (!stage.foreach)
        compatible(id, input, it->from);
    }
  }

  void unwired(StageId id, const Stage& stage, const Port& input) {
    const std::string why = stage.after.size() == 1
                                ? str("'", name(stage.after.front()), "' has no output of that name")
                                : std::string("with several predecessors names are not matched");
    report(
        id, "inputs",
        str("the input '", input.name, "' gets no value (", why, "); write inputs: {", input.name, ": STAGE.OUTPUT}"));
  }

  void compatible(StageId id, const Port& input, const Reference& from) {
    if (!from.stage.valid()) return;
    const std::vector<Port>* outputs = declared_outputs(application_, workflow_.at(from.stage));
    const Port* output = outputs == nullptr ? nullptr : find(*outputs, from.output);
    if (output == nullptr || workflow_.at(from.stage).foreach) return;
    const std::string source = describe(from, workflow_);
    if (output->type != input.type) {
      report(id, "inputs",
             str("the input '", input.name, "' is ", name_of(input.type), ", but ", source, " is ",
                 name_of(output->type)));
    } else if (output->shape.size() != input.shape.size()) {
      report(id, "inputs",
             str("the input '", input.name, "' has ", input.shape.size(), " dimensions, but ", source, " has ",
                 output->shape.size()));
    } else {
      for (std::size_t i = 0; i < input.shape.size(); ++i) {
        if (input.shape[i] < 0 || output->shape[i] < 0 || input.shape[i] == output->shape[i]) continue;
        report(id, "inputs",
               str("dimension ", i + 1, " of the input '", input.name, "' is ", input.shape[i], ", but of ", source,
                   " it is ", output->shape[i]));
      }
    }
  }

  void condition_outputs(StageId id, const Condition& condition) {
    if (condition.kind == Condition::Kind::compare) output_exists(id, "when", condition.comparison.left);
    for (const Condition& term : condition.terms) {
      if (term.kind == Condition::Kind::otherwise)
        report(id, "when", "'otherwise' stands alone, not inside all, any or not");
      condition_outputs(id, term);
    }
  }

  void output_exists(StageId id, std::string field, const Reference& reference) {
    if (!reference.stage.valid()) return;
    const std::vector<Port>* outputs = declared_outputs(application_, workflow_.at(reference.stage));
    if (outputs == nullptr || reference.output.empty() || find(*outputs, reference.output) != nullptr) return;
    report(id, std::move(field),
           str("'", name(reference.stage), "' has no output '", reference.output, "'.",
               known(*outputs, reference.output)));
  }

  static const Port* find(const std::vector<Port>& ports, std::string_view name) {
    const auto it = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
    return it == ports.end() ? nullptr : &*it;
  }
  static std::string known(const std::vector<Port>& ports, std::string_view name) {
    std::vector<std::string_view> names;
    for (const Port& port : ports) names.push_back(port.name);
    if (const auto near = nearest(name, names)) return str(" Did you mean '", *near, "'?");
    std::string out = " It has ";
    for (const std::string_view n : names) out += str(out.size() > 8 ? ", '" : "'", n, "'");
    return out + ".";
  }

  // `otherwise` belongs to the alternatives with the same predecessors.
  void alternatives() {
    struct Group {
      std::size_t conditions = 0;
      std::vector<StageId> otherwise;
    };
    std::map<std::vector<StageId>, Group> groups;
    for (std::size_t i = 0; i < workflow_.size(); ++i) {
      const Stage& stage = workflow_.stages[i];
      if (!stage.when) continue;
      std::vector<StageId> after = stage.after;
      std::sort(after.begin(), after.end());
      Group& group = groups[std::move(after)];
      if (is_otherwise(stage))
        group.otherwise.emplace_back(static_cast<StageId::rep>(i));
      else
        ++group.conditions;
    }
    for (const auto& [after, group] : groups) {
      for (std::size_t i = 0; i < group.otherwise.size(); ++i) {
        if (group.conditions == 0)
          report(group.otherwise[i], "when",
                 "'otherwise' without alternatives: no other stage with the same `after` has a condition");
        if (i > 0)
          report(group.otherwise[i], "when", str("a second 'otherwise' beside '", name(group.otherwise[0]), "'"));
      }
    }
  }

  // A stage all of whose predecessors only fail never runs.
  void unreached() {
    for (std::size_t i = 0; i < workflow_.size(); ++i) {
      const Stage& stage = workflow_.stages[i];
      const auto fails = [&](StageId before) { return workflow_.at(before).kind == Stage::Kind::fail; };
      if (stage.after.empty() || !std::all_of(stage.after.begin(), stage.after.end(), fails)) continue;
      report(StageId(static_cast<StageId::rep>(i)), "after",
             str("nothing reaches this stage: '", name(stage.after.front()), "' ends the request"));
    }
  }

  struct Use {
    StageId stage;
    std::string field;
    StageId source;
  };
  static void collect(StageId id, const Condition& condition, std::vector<Use>& out) {
    if (condition.kind == Condition::Kind::compare && condition.comparison.left.stage.valid()) {
      out.push_back({id, "when", condition.comparison.left.stage});
    }
    for (const Condition& term : condition.terms) collect(id, term, out);
  }

  // What a stage reads must have been written before it starts.
  void order_of_references(const Graph& graph) {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < workflow_.size(); ++i) {
      const StageId id(static_cast<StageId::rep>(i));
      const Stage& stage = workflow_.stages[i];
      for (const InputBinding& binding : stage.inputs) {
        if (binding.from.stage.valid()) uses.push_back({id, "inputs", binding.from.stage});
      }
      if (stage.foreach && stage.foreach->over.stage.valid())
        uses.push_back({id, "foreach", stage.foreach->over.stage});
      if (stage.when) collect(id, *stage.when, uses);
    }
    std::erase_if(uses, [&](const Use& use) {
      const auto& after = workflow_.at(use.stage).after;
      return std::find(after.begin(), after.end(), use.source) != after.end();
    });
    std::vector<ReachQuestion> questions;
    for (const Use& use : uses) questions.push_back({use.source.value(), use.stage.value()});
    const std::vector<bool> before = reaches(graph, questions);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (before[i]) continue;
      report(uses[i].stage, uses[i].field,
             str("reads '", name(uses[i].source), "', which need not have finished by then; add it to `after`"));
    }
  }

  void bodies() {
    for (const Stage& stage : workflow_.stages) {
      if (!stage.foreach || stage.foreach->body.empty()) continue;
      std::vector<std::string> path = path_;
      path.push_back(stage.name);
      WorkflowCheck(application_, stage.foreach->body.front(), std::move(path), problems_).run();
    }
  }

  const Application& application_;
  const Workflow& workflow_;
  std::vector<std::string> path_;
  std::vector<Problem>& problems_;
};

void check_objective(const Objective& objective, std::vector<Problem>& problems) {
  if (objective.latency <= Duration{}) problems.push_back({{}, "slo.latency", "must be positive"});
  if (objective.percentile && !(*objective.percentile > 0 && *objective.percentile < 100)) {
    problems.push_back({{}, "slo.percentile", str("is ", *objective.percentile, ", must be above 0 and below 100")});
  }
  if (objective.cost && !(*objective.cost > 0))
    problems.push_back({{}, "slo.cost", str("is ", *objective.cost, ", must be positive")});
}

void check_outputs(const Application& application, std::vector<Problem>& problems) {
  std::set<std::string_view> seen;
  for (const OutputBinding& output : application.outputs) {
    if (!seen.insert(output.name).second)
      problems.push_back({{}, "outputs", str("the output '", output.name, "' is named twice")});
    if (!output.from.stage.valid()) continue;
    const std::vector<Port>* ports = declared_outputs(application, application.workflow.at(output.from.stage));
    const auto same = [&](const Port& port) { return port.name == output.from.output; };
    if (ports == nullptr || output.from.output.empty() || std::any_of(ports->begin(), ports->end(), same)) continue;
    problems.push_back(
        {{},
         "outputs",
         str("'", application.workflow.at(output.from.stage).name, "' has no output '", output.from.output, "'")});
  }
}

}  // namespace

std::vector<Problem> validate(const Application& application) {
  std::vector<Problem> problems;
  check_objective(application.objective, problems);
  WorkflowCheck(application, application.workflow, {}, problems).run();
  check_outputs(application, problems);
  return problems;
}

}  // namespace sluice
