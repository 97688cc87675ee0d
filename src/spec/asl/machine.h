// An ASL document between reading its fields and making stages: machines of states that name each other. Passed from
// one asl_*.cpp to the next; nothing else uses it.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/draft.h"

namespace sluice::spec::asl {

// What all parts of one import share.
struct Import {
  const std::string& file;
  Diagnostics& out;
  std::map<std::string, Mark, std::less<>> names = {};  // of all states and added stages; unique over the document
  std::size_t copies = 0;                               // against limits::asl_copies_max

  void error(Mark mark, std::string field, std::string message) {
    out.error(file, mark, std::move(field), std::move(message));
  }
  // Reserves a name; false, with an error, if the document has it already.
  [[nodiscard]] bool claim(const Name& name, const std::string& field);
  // Counts what is copied; false, with an error at the first time, if a small document would become a huge draft.
  [[nodiscard]] bool copy(std::size_t count, Mark mark, const std::string& field);
};

// The state that a field names.
struct Target {
  Name name;
  std::size_t state = 0;  // its position in the machine, set by check()
};

enum class StateType { task, pass, wait, succeed, fail, choice, parallel, map };

// What becomes of a state's result: the new document, one key of it, or nothing.
struct ResultPath {
  enum class Kind { document, key, discard };
  Kind kind = Kind::document;
  std::string key;
  Mark mark;
};

struct ChoiceRule {
  ConditionDraft condition;
  Target next;
};

struct Catcher {
  Name error;  // "all" for States.ALL
  Target next;
  ResultPath result;  // where the handler finds the error
};

struct Machine;

// `draft` holds references as paths ("$.score") until resolve() has followed the data; the ways from state to state
// become `after`, `when` and `catches` last.
struct State {
  StageDraft draft;
  StateType type = StateType::pass;
  std::optional<Target> next;  // none: it ends its machine, or goes on by its rules
  std::vector<ChoiceRule> rules;
  std::optional<Target> fallback;  // Choice: "Default"
  std::vector<Catcher> catchers;
  ResultPath result;
  std::vector<Machine> machines;  // Parallel: its branches; Map: one, run per item

  [[nodiscard]] const std::string& name() const { return draft.name.text; }
  // Whether the machine may end here with a result.
  [[nodiscard]] bool ends() const { return !next && type != StateType::choice && type != StateType::fail; }
  // Whether it puts out something of its own instead of handing on what it got.
  [[nodiscard]] bool produces() const {
    return type == StateType::task || type == StateType::map || !draft.inputs.empty();
  }
};

struct Machine {
  std::string path;  // of its states: "States", "States.Both.Branches[0].States"
  Target start;
  std::vector<State> states;       // in document order
  std::vector<std::size_t> order;  // positions, sources before targets, set by check()
  bool complete = true;            // false: some states could not be read

  [[nodiscard]] std::string field(const State& state) const { return path + "." + state.name(); }
};

}  // namespace sluice::spec::asl
