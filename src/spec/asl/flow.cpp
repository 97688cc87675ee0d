#include "spec/asl/flow.h"

#include "base/text.h"
#include "domain/limits.h"
#include "spec/asl/check.h"
#include "spec/asl/document.h"

namespace sluice::spec::asl {
namespace {

// What reaches a state.
struct Arrival {
  DocumentPtr document;  // null: nothing yet
  Value handed;          // what wiring by name will give it: the outputs of its only predecessor; unknown if several
  const State* from = nullptr;
};

void arrive(Arrival& at, const Arrival& next) {
  if (!at.document) {
    at = next;
    return;
  }
  at.document = merge(at.document, at.from, next.document, next.from);
  at.handed = {};
}

DocumentPtr document_of(Value root) {
  return std::make_shared<Document>(Document{.root = root});
}

class Flow {
 public:
  explicit Flow(Import& import) : import_(import) {}

  // Gives what its ends leave; null if all of them fail.
  DocumentPtr machine(Machine& machine, const Arrival& start) {
    std::vector<Arrival> arrivals(machine.states.size());
    Arrival end;
    arrivals[machine.start.state] = start;
    for (const std::size_t position : machine.order) {
      State& state = machine.states[position];
      const Arrival in = std::move(arrivals[position]);
      arrivals[position] = {};  // many states may hold many documents
      const std::string field = machine.field(state);
      resolve(state, *in.document, field);
      if (state.type == StateType::task) check_wiring(state, in, field);
      const Arrival out = leave(state, in, field);
      for (const std::size_t next : successors(state)) arrive(arrivals[next], out);
      for (const Catcher& catcher : state.catchers)
        arrive(arrivals[catcher.next.state], caught(state, catcher, in, field));
      if (state.ends()) arrive(end, out);
    }
    return end.document;
  }

 private:
  void resolve(Name& path, const Document& document, const std::string& field) {
    if (path.text.empty()) return;  // reported when it was read
    auto found = reference(path.text, document, results_);
    if (found.ok())
      path.text = std::move(*found);
    else
      import_.error(path.mark, field, found.error().message);
  }
  void resolve(ConditionDraft& condition, const Document& document, const std::string& field) {
    if (condition.kind == Condition::Kind::compare) resolve(condition.left, document, field);
    for (ConditionDraft& term : condition.terms) resolve(term, document, field);
  }
  void resolve(State& state, const Document& document, const std::string& field) {
    for (auto& [input, path] : state.draft.inputs) resolve(path, document, str(field, ".Parameters.", input.text));
    if (state.draft.foreach) resolve(state.draft.foreach->over, document, field + ".ItemsPath");
    for (std::size_t i = 0; i < state.rules.size(); ++i)
      resolve(state.rules[i].condition, document, str(field, ".Choices[", i, "]"));
  }

  // A task without Parameters gets the document in ASL, the outputs of its predecessor in Sluice. Where these are known
  // to differ, it would silently compute with other data.
  void check_wiring(const State& task, const Arrival& in, const std::string& field) {
    if (task.draft.marks.contains("inputs") || in.handed.kind == Value::Kind::unknown) return;
    const Document& document = *in.document;
    if (document.root == in.handed) return;  // then ResultPath added nothing since
    const std::string parts = document.keys.empty() ? "" : " with what ResultPath added";
    import_.error(task.draft.name.mark, field,
                  str("its input is the document of ", describe(document.root), parts,
                      ", but by name it would get the outputs of ", describe(in.handed),
                      "; name its inputs: \"Parameters\": {\"NAME.$\": \"$.FIELD\"}"));
  }

  Arrival caught(const State& state, const Catcher& catcher, const Arrival& in, const std::string& field) {
    const Value received{.kind = Value::Kind::error, .state = &state};
    return {apply(catcher.result, in.document, received, field + ".Catch"), {}, &state};
  }

  Arrival leave(State& state, const Arrival& in, const std::string& field) {
    const Value output{.kind = Value::Kind::output, .state = &state};
    Arrival out{in.document, state.produces() ? output : in.handed, &state};
    if (state.type == StateType::parallel) {
      branches(state, state.produces() ? Arrival{document_of(output), output, &state} : in);
      out.handed = {};
      out.document =
          apply(state.result, in.document, {.kind = Value::Kind::list, .state = &state}, field + ".ResultPath");
    } else if (state.produces()) {
      if (state.type == StateType::map) items(state);
      out.document = apply(state.result, in.document, output, field + ".ResultPath");
    }
    return out;
  }

  // The document after `value` was put where `path` says.
  DocumentPtr apply(const ResultPath& path, const DocumentPtr& document, const Value& value, const std::string& field) {
    if (path.kind == ResultPath::Kind::discard) return document;
    if (path.kind == ResultPath::Kind::document) return document_of(value);
    if (DocumentPtr out = with_key(*document, path.key, value)) return out;
    import_.error(path.mark, field,
                  str("the document would have more than ", limits::asl_results_max, " results beside each other"));
    return document;
  }

  void branches(State& parallel, const Arrival& in) {
    std::vector<DocumentPtr> ends;
    for (Machine& branch : parallel.machines) ends.push_back(machine(branch, in));
    results_[&parallel] = std::move(ends);
  }

  void items(State& map) {
    const Value item{.kind = Value::Kind::request};
    for (Machine& body : map.machines) (void)machine(body, {document_of(item), item, nullptr});
  }

  Import& import_;
  BranchResults results_;
};

}  // namespace

void follow_data(Machine& machine, Import& import) {
  const Value request{.kind = Value::Kind::request};
  (void)Flow(import).machine(machine, {document_of(request), request, nullptr});
}

}  // namespace sluice::spec::asl
