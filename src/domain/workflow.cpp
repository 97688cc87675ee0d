#include "domain/workflow.h"

#include <array>

#include "base/text.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 8> kSymbols = {"==", "!=", "<", "<=", ">", ">=", "present", "matches"};

std::string describe(const Literal& literal) {
  if (const auto* flag = std::get_if<bool>(&literal)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&literal)) return str(*number);
  return str('"', std::get<std::string>(literal), '"');
}

std::string describe_terms(const std::vector<Condition>& terms, std::string_view word, const Workflow& workflow) {
  std::string out;
  for (const Condition& term : terms) {
    if (!out.empty()) out += str(" ", word, " ");
    const bool nested = term.kind == Condition::Kind::all || term.kind == Condition::Kind::any;
    out += nested ? str("(", describe(term, workflow), ")") : describe(term, workflow);
  }
  return out;
}

}  // namespace

std::string_view symbol_of(Comparator comparator) {
  return kSymbols[static_cast<std::size_t>(comparator)];
}

StageId Workflow::find(std::string_view name) const {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == name) return StageId(static_cast<StageId::rep>(i));
  }
  return StageId::none();
}

std::string describe(const Reference& reference, const Workflow& workflow) {
  const std::string_view stage =
      reference.stage.valid() ? std::string_view(workflow.at(reference.stage).name) : "request";
  return reference.output.empty() ? std::string(stage) : str(stage, ".", reference.output);
}

std::string describe(const Condition& condition, const Workflow& workflow) {
  switch (condition.kind) {
    case Condition::Kind::otherwise:
      return "otherwise";
    case Condition::Kind::all:
      return describe_terms(condition.terms, "and", workflow);
    case Condition::Kind::any:
      return describe_terms(condition.terms, "or", workflow);
    case Condition::Kind::negate:
      return str("not (", describe(condition.terms.front(), workflow), ")");
    case Condition::Kind::compare:
      break;
  }
  const Comparison& comparison = condition.comparison;
  const std::string left = describe(comparison.left, workflow);
  if (comparison.comparator == Comparator::present)
    return str(left, std::get<bool>(comparison.right) ? " present" : " absent");
  return str(left, " ", symbol_of(comparison.comparator), " ", describe(comparison.right));
}

}  // namespace sluice
