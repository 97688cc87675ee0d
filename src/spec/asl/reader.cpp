#include "spec/asl/reader.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/asl/states.h"

namespace sluice::spec::asl {
namespace {

constexpr std::array<std::string_view, 8> kTypes = {"Task", "Pass",   "Wait",     "Succeed",
                                                    "Fail", "Choice", "Parallel", "Map"};

constexpr std::string_view kJsonataWhy = "JSONata and variables are not; use Parameters and ResultPath";
constexpr std::array kRefusedEverywhere = {Refused{"Assign", kJsonataWhy}, Refused{"Arguments", kJsonataWhy},
                                           Refused{"Output", kJsonataWhy}, Refused{"QueryLanguage", kJsonataWhy}};

// Next and End: exactly one for most types, none for those that end or choose. False if it is not clear which.
bool read_transition(const Part& part, State& state) {
  const auto end = part.fields.optional("End");
  const bool ends = end && end->boolean().value_or(true);
  state.next = target(part.fields, "Next");
  if (state.type == StateType::choice || state.type == StateType::succeed || state.type == StateType::fail) {
    if (end) end->error("a state of this Type has no 'End'");
    if (state.next) part.fields.optional("Next")->error("a state of this Type has no 'Next'");
    return !end && !std::exchange(state.next, std::nullopt);
  }
  if (ends && state.next) end->error("a state has either 'Next' or 'End', not both");
  if (!ends && !state.next) part.cursor.error(R"(says not how it goes on; write "Next": "STATE" or "End": true)");
  return ends != state.next.has_value();
}

// False if so little of it could be read that later checks would only repeat the error.
bool read_state(const NamedCursor& entry, State& state, Import& import) {
  state.draft.name = {entry.name, entry.mark};
  state.draft.stage.kind = Stage::Kind::pass;
  state.draft.marks["name"] = entry.mark;
  Fields fields(entry.value);
  if (!fields.valid()) return false;
  (void)fields.optional("Comment");
  const auto type = fields.required("Type", R"("Type": "Task")");
  const auto which = type ? type->choice(kTypes) : std::nullopt;
  if (!which) return false;
  static_assert(static_cast<std::size_t>(StateType::map) + 1 == kTypes.size());
  state.type = static_cast<StateType>(*which);
  const Part part{entry.value, fields};
  read_by_type(part, state, import);
  const bool clear = read_transition(part, state);
  refuse(part, kRefusedEverywhere);
  fields.finish();
  return clear;
}

}  // namespace

bool Import::claim(const Name& name, const std::string& field) {
  if (name.text == "request") {
    error(name.mark, field, "'request' stands for the call's own inputs; choose another name");
    return false;
  }
  const auto [it, fresh] = names.emplace(name.text, name.mark);
  if (!fresh) {
    error(name.mark, field,
          str("the name '", name.text, "' is used already in line ", it->second.line,
              "; names are unique over all branches and bodies"));
  }
  return fresh;
}

bool Import::copy(std::size_t count, Mark mark, const std::string& field) {
  const bool before = copies <= limits::asl_copies_max;
  copies += count;
  if (copies <= limits::asl_copies_max) return true;
  if (before) {
    error(mark, field,
          str("the document becomes too large when rules and catchers are written out for every stage: more than ",
              limits::asl_copies_max, " copies"));
  }
  return false;
}

Machine read_machine(const Part& part, Import& import) {
  Machine machine;
  machine.path = part.cursor.path().empty() ? "States" : part.cursor.path() + ".States";
  if (part.fields.required("StartAt", R"("StartAt": "STATE")")) machine.start = *target(part.fields, "StartAt");
  const auto states = part.fields.required("States", R"("States": {"NAME": {"Type": "Task", …}})");
  if (!states) return machine;
  const std::vector<NamedCursor> entries = named_entries(*states);
  machine.complete = entries.size() == states->node().entries.size();
  if (import.names.size() + entries.size() > limits::stages_max) {
    states->error(str("the document has more than ", limits::stages_max, " states"));
    machine.complete = false;
    return machine;
  }
  if (machine.complete && entries.empty() && states->node().kind == Node::Kind::map) states->error("is empty");
  machine.states.reserve(entries.size());
  for (const NamedCursor& entry : entries) {
    State& state = machine.states.emplace_back();
    machine.complete &= import.claim({entry.name, entry.mark}, entry.value.path());
    machine.complete &= read_state(entry, state, import);
  }
  return machine;
}

}  // namespace sluice::spec::asl
