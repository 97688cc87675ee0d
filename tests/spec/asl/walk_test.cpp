// Walks random machines by ASL's rules and the imported stages by Sluice's: the same states must run.
#include <map>
#include <set>

#include "base/rng.h"
#include "spec/asl/fixture.h"

namespace sluice::spec {
namespace {

constexpr std::size_t kVariables = 4;
using Assignment = std::size_t;  // bit i: the value of "$.v<i>"

struct Rule {
  std::size_t variable, target;
  bool value;
};
struct Branch;
struct Node {
  std::string name;
  enum class Type { pass, choice, parallel, succeed } type = Type::pass;
  std::size_t next = 0;  // pass, parallel; choice: Default
  bool ends = true;      // no next; choice: no Default
  std::vector<Rule> rules;
  std::vector<Branch> branches;
};
struct Branch {
  std::vector<Node> nodes;  // the first is the start
};

std::size_t draw(Rng& rng, std::size_t bound) {
  return static_cast<std::size_t>(rng.below(bound));
}

// A machine whose states lead only to later ones.
Branch random_branch(Rng& rng, std::size_t& names, std::size_t depth) {
  Branch branch;
  branch.nodes.resize(1 + draw(rng, 7));
  const std::size_t count = branch.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    Node& node = branch.nodes[i];
    node.name = str("n", names++);
    const auto later = [&] { return i + 1 + draw(rng, count - i - 1); };
    const bool last = i + 1 == count;
    const std::size_t kind = draw(rng, 8);
    if (kind < 4 && !last) {
      node.type = Node::Type::choice;
      const std::size_t rules = 1 + draw(rng, 4);
      for (std::size_t k = 0; k < rules; ++k) {
        const std::size_t variable = draw(rng, kVariables);
        const std::size_t target = later();
        node.rules.push_back({variable, target, draw(rng, 2) == 0});
      }
    } else if (kind == 4 && depth < 2) {
      node.type = Node::Type::parallel;
      const std::size_t branches = 1 + draw(rng, 2);
      for (std::size_t k = 0; k < branches; ++k) node.branches.push_back(random_branch(rng, names, depth + 1));
    } else if (kind == 5) {
      node.type = Node::Type::succeed;
    }
    node.ends = last || node.type == Node::Type::succeed || draw(rng, 4) == 0;
    if (!node.ends) node.next = later();
  }
  return branch;
}

std::set<std::size_t> reached(const Branch& branch) {
  std::set<std::size_t> out = {0};
  for (const std::size_t i : out) {  // targets are later, so that the loop meets what it inserts
    for (const Rule& rule : branch.nodes[i].rules) out.insert(rule.target);
    if (!branch.nodes[i].ends) out.insert(branch.nodes[i].next);
  }
  return out;
}

std::string json(const Branch& branch);

std::string json(const Branch& branch, const Node& node) {
  const auto name = [&](std::size_t i) { return branch.nodes[i].name; };
  std::string list;
  switch (node.type) {
    case Node::Type::succeed:
      return R"({"Type": "Succeed"})";
    case Node::Type::choice:
      for (const Rule& rule : node.rules) {
        list += str(list.empty() ? "" : ", ", R"({"Variable": "$.v)", rule.variable, R"(", "BooleanEquals": )",
                    rule.value ? "true" : "false", R"(, "Next": ")", name(rule.target), "\"}");
      }
      return str(R"({"Type": "Choice", "Choices": [)", list, "]",
                 node.ends ? "" : str(R"(, "Default": ")", name(node.next), "\""), "}");
    case Node::Type::parallel:
      for (const Branch& inner : node.branches) list += str(list.empty() ? "{" : ", {", json(inner), "}");
      list = str(R"({"Type": "Parallel", "ResultPath": null, "Branches": [)", list, "], ");
      break;
    case Node::Type::pass:
      list = R"({"Type": "Pass", )";
  }
  return list + (node.ends ? std::string(R"("End": true})") : str(R"("Next": ")", name(node.next), "\"}"));
}

std::string json(const Branch& branch) {
  std::string states;
  for (const std::size_t i : reached(branch)) {
    states += str(states.empty() ? "" : ",\n", "\"", branch.nodes[i].name, "\": ", json(branch, branch.nodes[i]));
  }
  return str(R"("StartAt": ")", branch.nodes[0].name, R"(", "States": {)", states, "}");
}

// Runs a machine as ASL says; false if it stops because no rule holds and there is no Default.
bool walk(const Branch& branch, Assignment values, std::set<std::string>& ran) {
  for (std::size_t at = 0;;) {
    const Node& node = branch.nodes[at];
    ran.insert(node.name);
    bool ended = node.type != Node::Type::parallel;
    for (const Branch& inner : node.branches) ended |= walk(inner, values, ran);
    if (!ended) return false;
    const auto holds = [&](const Rule& rule) { return ((values >> rule.variable & 1) != 0) == rule.value; };
    const auto rule = std::find_if(node.rules.begin(), node.rules.end(), holds);
    if (rule == node.rules.end() && node.ends) return node.type != Node::Type::choice;
    at = rule != node.rules.end() ? rule->target : node.next;
  }
}

bool holds(const ConditionDraft& condition, Assignment values) {
  const auto term = [&](const ConditionDraft& c) { return holds(c, values); };
  switch (condition.kind) {
    case Condition::Kind::all:
      return std::all_of(condition.terms.begin(), condition.terms.end(), term);
    case Condition::Kind::any:
      return std::any_of(condition.terms.begin(), condition.terms.end(), term);
    case Condition::Kind::negate:
      return !term(condition.terms.front());
    case Condition::Kind::otherwise:
      return false;
    case Condition::Kind::compare:
      break;
  }
  const auto variable = static_cast<std::size_t>(condition.left.text.back() - '0');
  return ((values >> variable & 1) != 0) == std::get<bool>(condition.right);
}

// Runs the stages as Sluice does: one runs if a predecessor ran and its condition holds.
class StageWalk {
 public:
  StageWalk(const WorkflowDraft& workflow, Assignment values) : values_(values) {
    for (const StageDraft& stage : workflow.stages) stages_[stage.name.text] = &stage;
  }
  bool runs(const std::string& name) {
    const auto it = ran_.find(name);
    if (it != ran_.end()) return it->second;
    const StageDraft& stage = *stages_.at(name);
    bool reached = stage.after.empty();
    for (const Name& before : stage.after) reached |= runs(before.text);
    return ran_[name] = reached && (!stage.when || taken(stage));
  }

 private:
  bool taken(const StageDraft& stage) const {
    if (stage.when->kind != Condition::Kind::otherwise) return holds(*stage.when, values_);
    return std::none_of(stages_.begin(), stages_.end(), [&](const auto& other) {
      const StageDraft& alternative = *other.second;
      return alternative.when && alternative.after.size() == 1 && alternative.after[0].text == stage.after[0].text &&
             holds(*alternative.when, values_);
    });
  }
  Assignment values_;
  std::map<std::string, const StageDraft*> stages_;
  std::map<std::string, bool> ran_;
};

void names_of(const Branch& branch, std::vector<std::string>& out) {
  for (const std::size_t i : reached(branch)) {
    out.push_back(branch.nodes[i].name);
    for (const Branch& inner : branch.nodes[i].branches) names_of(inner, out);
  }
}

TEST(AslWalk, RunsTheStatesThatTheLanguageRuns) {
  std::size_t imported = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Rng rng(seed);
    std::size_t count = 0;
    const Branch top = random_branch(rng, count, 0);
    const std::string text = str(R"({"SLO": {"DeadlineMs": 1}, )", json(top), "}");
    const Imported document = import(text);
    ASSERT_TRUE(document.document) << text << "\n" << document.errors.front();
    ++imported;
    std::vector<std::string> names;
    names_of(top, names);
    for (Assignment values = 0; values < (Assignment{1} << kVariables); ++values) {
      std::set<std::string> expected, got;
      (void)walk(top, values, expected);
      StageWalk stages(document.document->draft.workflow, values);
      for (const std::string& name : names) {
        if (stages.runs(name)) got.insert(name);
      }
      ASSERT_EQ(got, expected) << "seed " << seed << ", values " << values << "\n" << text;
    }
  }
  EXPECT_EQ(imported, 2'000u);
}

}  // namespace
}  // namespace sluice::spec
