#include "spec/asl/stages.h"

#include <set>

#include "base/text.h"
#include "spec/asl/check.h"
#include "spec/asl/ways.h"
#include "spec/cursor.h"

namespace sluice::spec::asl {
namespace {

// A catcher of a Parallel, on its way to the states inside.
struct Inherited {
  const Catcher* catcher;
  bool used = false;
};

// One workflow: a machine and, flattened into it, the branches of its Parallel states.
class Stages {
 public:
  explicit Stages(Import& import) : import_(import) {}

  // Adds the stages of `machine`, whose first comes after `entry`; gives the names of its end stages.
  std::vector<std::string> add(Machine& machine, const std::vector<Name>& entry,
                               const std::vector<Inherited*>& inherited) {
    std::vector<std::size_t> places;
    std::vector<std::vector<std::string>> exits;  // the stages after which a state is over
    for (State& state : machine.states) {
      const std::string field = machine.field(state);
      places.push_back(out_.stages.size());
      exits.push_back({state.name()});
      if (state.type == StateType::map) fill_body(state);
      const bool can_fail =
          state.type == StateType::task || state.type == StateType::map || state.type == StateType::fail;
      if (can_fail) add_catches(state, inherited, field);
      const Name name = state.draft.name;
      out_.stages.push_back(std::move(state.draft));
      state.draft = {.name = name};
      if (state.type == StateType::parallel) exits.back() = add_branches(state, inherited, field);
    }
    out_.stages[places[machine.start.state]].after = entry;
    connect(machine, places, exits);
    return ends(machine, exits);
  }

  // The stages added by ways that needed one come last.
  WorkflowDraft take() {
    for (StageDraft& stage : edges_) out_.stages.push_back(std::move(stage));
    return std::move(out_);
  }

 private:
  void fill_body(State& map) {
    for (Machine& body : map.machines) map.draft.foreach->body = make_stages(body, import_);
  }

  // A state's own catchers, then those of the Parallel states around it for errors it does not catch itself.
  void add_catches(State& state, const std::vector<Inherited*>& inherited, const std::string& field) {
    std::set<std::string_view> caught;
    const auto add = [&](const Catcher& catcher) {
      if (caught.contains("all") || !caught.insert(catcher.error.text).second) return false;
      state.draft.catches.emplace_back(catcher.error.text, catcher.next.name);
      return true;
    };
    for (const Catcher& catcher : state.catchers) (void)add(catcher);
    for (Inherited* handler : inherited) {
      if (!import_.copy(1, state.draft.name.mark, field)) return;
      handler->used |= add(*handler->catcher);
    }
  }

  // The branches start after the Parallel, which as a stage is only the fork.
  std::vector<std::string> add_branches(State& parallel, const std::vector<Inherited*>& outer,
                                        const std::string& field) {
    std::vector<Inherited> own;
    for (const Catcher& catcher : parallel.catchers) own.push_back({&catcher});
    std::vector<Inherited*> inherited;
    for (Inherited& handler : own) inherited.push_back(&handler);
    inherited.insert(inherited.end(), outer.begin(), outer.end());
    std::vector<std::string> exits;
    for (Machine& branch : parallel.machines) {
      for (std::string& end : add(branch, {{parallel.name(), branch.start.name.mark}}, inherited))
        exits.push_back(std::move(end));
    }
    for (const Inherited& handler : own) {
      if (handler.used || import_.out.has_errors()) continue;
      import_.error(handler.catcher->error.mark, field + ".Catch",
                    str("nothing inside can fail with '", printable(handler.catcher->error.text),
                        "' without catching it; leave it out"));
    }
    if (exits.empty() && parallel.next && !parallel.machines.empty()) {
      import_.error(parallel.next->name.mark, field + ".Next", "is never reached: every branch only fails");
    }
    return exits;
  }

  static std::vector<std::string> ends(const Machine& machine, std::vector<std::vector<std::string>>& exits) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < machine.states.size(); ++i) {
      if (!machine.states[i].ends()) continue;
      for (std::string& exit : exits[i]) out.push_back(std::move(exit));
    }
    return out;
  }

  void connect(const Machine& machine, const std::vector<std::size_t>& places,
               const std::vector<std::vector<std::string>>& exits) {
    const std::vector<std::size_t> sources = count_sources(machine);
    for (std::size_t i = 0; i < machine.states.size(); ++i) {
      const State& state = machine.states[i];
      if (state.next) {
        auto& after = out_.stages[places[state.next->state]].after;
        for (const std::string& exit : exits[i]) after.push_back({exit, state.next->name.mark});
        out_.stages[places[state.next->state]].marks.emplace("after", state.next->name.mark);
      }
      if (state.type != StateType::choice) continue;
      for (Way& way : ways(state, machine.field(state), import_)) {
        StageDraft& target = out_.stages[places[way.target]];
        const bool only = sources[way.target] == 1;
        lead(state, std::move(way), target, only, machine.field(state));
      }
    }
  }

  // How many states lead to each without an error: an error goes to its handler whatever that stage's condition says.
  static std::vector<std::size_t> count_sources(const Machine& machine) {
    std::vector<std::size_t> sources(machine.states.size());
    for (const State& state : machine.states) {
      for (const std::size_t target : successors(state)) ++sources[target];
    }
    return sources;
  }

  // From a Choice to a target: the condition is the target's own if no other way leads there, else that of a stage on
  // the way between them.
  void lead(const State& choice, Way way, StageDraft& target, bool only, const std::string& field) {
    StageDraft edge;
    const bool between = way.condition && !only;
    StageDraft& stage = between ? edge : target;
    stage.after.push_back({choice.name(), way.mark});
    stage.marks.emplace("after", way.mark);
    if (way.condition) stage.marks.emplace("when", way.mark);
    stage.when = std::move(way.condition);
    if (!between) return;
    edge.name = {str(choice.name(), " to ", target.name.text), way.mark};
    edge.stage.kind = Stage::Kind::pass;
    edge.marks.emplace("name", way.mark);
    if (!legal_name(edge.name.text)) {
      import_.error(
          way.mark, field,
          str("needs a stage '", edge.name.text, "', a name that is too long; shorten the names of the states"));
    } else if (import_.claim(edge.name, field)) {
      target.after.push_back(edge.name);
      target.marks.emplace("after", way.mark);
      edges_.push_back(std::move(edge));
    }
  }

  Import& import_;
  WorkflowDraft out_;
  std::vector<StageDraft> edges_;
};

}  // namespace

WorkflowDraft make_stages(Machine& machine, Import& import) {
  Stages stages(import);
  (void)stages.add(machine, {}, {});
  return stages.take();
}

}  // namespace sluice::spec::asl
