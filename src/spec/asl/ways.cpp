#include "spec/asl/ways.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::asl {
namespace {

std::size_t comparisons(const ConditionDraft& condition) {
  if (condition.kind == Condition::Kind::compare) return 1;
  std::size_t sum = 0;
  for (const ConditionDraft& term : condition.terms) sum += comparisons(term);
  return sum;
}

ConditionDraft combine(Condition::Kind kind, std::vector<ConditionDraft> terms) {
  if (terms.size() == 1) return std::move(terms.front());
  ConditionDraft out;
  out.kind = kind;
  out.terms = std::move(terms);
  return out;
}

ConditionDraft negate(ConditionDraft condition) {
  ConditionDraft out;
  out.kind = Condition::Kind::negate;
  out.terms.push_back(std::move(condition));
  return out;
}

// Holds when the first rule that holds leads to `target` (or, with `elsewhere`, to any other). Only earlier rules that
// lead to the other side are negated: whether one that leads to the same side holds makes no difference.
std::optional<ConditionDraft> first_match(const std::vector<ChoiceRule>& rules, std::size_t target, bool elsewhere) {
  std::vector<ConditionDraft> out, before;  // `before`: negated
  for (std::size_t i = 0; i < rules.size();) {
    const auto wanted = [&] { return i < rules.size() && (rules[i].next.state == target) != elsewhere; };
    if (!wanted()) {
      before.push_back(negate(rules[i++].condition));
      continue;
    }
    std::vector<ConditionDraft> run;
    for (; wanted(); ++i) run.push_back(rules[i].condition);
    std::vector<ConditionDraft> terms = {combine(Condition::Kind::any, std::move(run))};
    terms.insert(terms.end(), before.begin(), before.end());
    out.push_back(combine(Condition::Kind::all, std::move(terms)));
  }
  if (out.empty()) return std::nullopt;
  return combine(Condition::Kind::any, std::move(out));
}

std::optional<ConditionDraft> condition_for(const State& choice, std::size_t target) {
  const bool by_default = choice.fallback && choice.fallback->state == target;
  if (!by_default) return first_match(choice.rules, target, false);
  const auto leads = [&](const ChoiceRule& rule) { return rule.next.state == target; };
  if (std::none_of(choice.rules.begin(), choice.rules.end(), leads)) {
    ConditionDraft otherwise;
    otherwise.kind = Condition::Kind::otherwise;
    return otherwise;
  }
  auto others = first_match(choice.rules, target, true);
  if (!others) return std::nullopt;  // all rules and Default lead there
  return negate(std::move(*others));
}

// Whether conditions of `count` comparisons are short enough.
bool within_limit(std::size_t count, const State& choice, const std::string& field, Import& import) {
  if (count <= limits::condition_terms_max) return true;
  import.error(
      choice.draft.name.mark, field,
      str("the rules need a condition of ", count, " comparisons, with earlier rules excluded as ASL asks; at most ",
          limits::condition_terms_max, " are allowed"));
  return false;
}

}  // namespace

std::vector<Way> ways(const State& choice, const std::string& field, Import& import) {
  std::vector<Way> out;
  std::size_t total = 0;
  for (const ChoiceRule& rule : choice.rules) total += comparisons(rule.condition);
  // The condition of the last rule holds every rule, so that this check also bounds the loops below.
  if (!within_limit(total, choice, field, import)) return out;
  const auto add = [&](const Target& target) {
    const auto same = [&](const Way& way) { return way.target == target.state; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({target.state, target.name.mark, std::nullopt});
  };
  for (const ChoiceRule& rule : choice.rules) add(rule.next);
  if (choice.fallback) add(*choice.fallback);
  for (Way& way : out) {
    way.condition = condition_for(choice, way.target);
    const std::size_t count = way.condition ? comparisons(*way.condition) : 0;
    if (!within_limit(count, choice, field, import) || !import.copy(count, way.mark, field)) return {};
  }
  return out;
}

}  // namespace sluice::spec::asl
