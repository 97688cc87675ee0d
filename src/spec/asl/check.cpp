#include "spec/asl/check.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/cursor.h"

namespace sluice::spec::asl {
namespace {

// Looking for the nearest of very many names for very many errors would take minutes.
constexpr std::size_t kSuggestedMax = 2'000;
constexpr std::size_t kCycleNamedMax = 10;

class MachineCheck {
 public:
  MachineCheck(Machine& machine, Import& import) : machine_(machine), import_(import) {
    for (std::size_t i = 0; i < machine.states.size(); ++i) positions_.emplace(machine.states[i].name(), i);
  }

  bool run() {
    if (machine_.states.empty() || !resolve_all() || !machine_.complete) return false;
    for (const State& state : machine_.states) successors_.push_back(with_handlers(state));
    if (!all_reached()) return false;
    sort();
    if (machine_.order.size() == machine_.states.size()) return true;
    report_loop();
    return false;
  }

 private:
  bool resolve_all() {
    const std::string root = machine_.path.substr(0, machine_.path.size() - std::string_view("States").size());
    bool ok = resolve(machine_.start, root + "StartAt");
    for (State& state : machine_.states) {
      const std::string field = machine_.field(state);
      if (state.next) ok &= resolve(*state.next, field + ".Next");
      for (std::size_t i = 0; i < state.rules.size(); ++i)
        ok &= resolve(state.rules[i].next, str(field, ".Choices[", i, "].Next"));
      if (state.fallback) ok &= resolve(*state.fallback, field + ".Default");
      for (Catcher& catcher : state.catchers) ok &= resolve(catcher.next, field + ".Catch");
    }
    return ok;
  }

  bool resolve(Target& target, const std::string& field) {
    const auto it = positions_.find(target.name.text);
    if (it != positions_.end()) {
      target.state = it->second;
      return true;
    }
    // Without a text the field was reported, and an illegal name may be that of a state that was.
    if (target.name.text.empty() || (!machine_.complete && !legal_name(target.name.text))) return false;
    const std::string why =
        import_.names.contains(target.name.text)
            ? std::string(" A state leads only to states of the same \"States\", not into or out of a branch.")
            : near(target.name.text);
    import_.error(target.name.mark, field, str("there is no state '", printable(target.name.text), "' here.", why));
    return false;
  }

  std::string near(std::string_view name) const {
    if (positions_.size() > kSuggestedMax || import_.out.errors() > limits::errors_reported_max) return "";
    std::vector<std::string_view> names;
    for (const State& state : machine_.states) names.push_back(state.name());
    return suggestion(name, names);
  }

  static std::vector<std::size_t> with_handlers(const State& state) {
    std::vector<std::size_t> out = successors(state);
    for (const Catcher& catcher : state.catchers) out.push_back(catcher.next.state);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  bool all_reached() {
    std::vector<bool> reached(machine_.states.size());
    std::vector<std::size_t> todo = {machine_.start.state};
    reached[machine_.start.state] = true;
    while (!todo.empty()) {
      const std::size_t state = todo.back();
      todo.pop_back();
      for (const std::size_t next : successors_[state]) {
        if (reached[next]) continue;
        reached[next] = true;
        todo.push_back(next);
      }
    }
    bool all = true;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (reached[i]) continue;
      all = false;
      const State& state = machine_.states[i];
      import_.error(state.draft.name.mark, machine_.field(state),
                    "nothing leads to this state; name it in a Next, or leave it out");
    }
    return all;
  }

  // Sources before targets; leaves out the states of a loop and all behind it.
  void sort() {
    std::vector<std::size_t> waiting(machine_.states.size());
    for (const auto& list : successors_) {
      for (const std::size_t next : list) ++waiting[next];
    }
    std::vector<std::size_t>& order = machine_.order;
    if (waiting[machine_.start.state] == 0) order.push_back(machine_.start.state);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::size_t next : successors_[order[i]]) {
        if (--waiting[next] == 0) order.push_back(next);
      }
    }
  }

  // Walks back from a state that was not sorted: each such state has a source that was not sorted either.
  void report_loop() {
    std::vector<bool> left(machine_.states.size(), true);
    for (const std::size_t state : machine_.order) left[state] = false;
    std::vector<std::size_t> source(machine_.states.size());
    for (std::size_t i = 0; i < machine_.states.size(); ++i) {
      if (!left[i]) continue;
      for (const std::size_t next : successors_[i]) source[next] = i;
    }
    std::vector<bool> seen(machine_.states.size());
    auto state = static_cast<std::size_t>(std::find(left.begin(), left.end(), true) - left.begin());
    for (; !seen[state]; state = source[state]) seen[state] = true;
    std::vector<std::size_t> loop = {state};  // backwards
    for (std::size_t i = source[state]; i != state; i = source[i]) loop.push_back(i);
    report_loop(loop);
  }

  void report_loop(const std::vector<std::size_t>& backwards) {
    const State& first = machine_.states[backwards.front()];
    std::string text = str("'", first.name(), "'");
    for (std::size_t i = 1; i <= std::min(backwards.size() - 1, kCycleNamedMax); ++i) {
      text += str(" → '", machine_.states[backwards[backwards.size() - i]].name(), "'");
    }
    if (backwards.size() > kCycleNamedMax + 1) text += " → …";
    import_.error(
        first.draft.name.mark, machine_.field(first),
        str("loops are not supported; these states lead back to the first: ", text, " → '", first.name(), "'"));
  }

  Machine& machine_;
  Import& import_;
  std::map<std::string_view, std::size_t> positions_;
  std::vector<std::vector<std::size_t>> successors_;  // with handlers of errors
};

}  // namespace

std::vector<std::size_t> successors(const State& state) {
  std::vector<std::size_t> out;
  if (state.next) out.push_back(state.next->state);
  for (const ChoiceRule& rule : state.rules) out.push_back(rule.next.state);
  if (state.fallback) out.push_back(state.fallback->state);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool check(Machine& machine, Import& import) {
  bool ok = MachineCheck(machine, import).run();
  for (State& state : machine.states) {
    for (Machine& inner : state.machines) ok &= check(inner, import);
  }
  return ok;
}

}  // namespace sluice::spec::asl
