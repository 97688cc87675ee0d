#include "spec/asl/choice.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::asl {
namespace {

enum class Operand { text, number, boolean, pattern };
struct Operator {
  std::string_view field;
  Comparator comparator;
  Operand operand;
};
constexpr std::array kOperators = {
    Operator{"StringEquals", Comparator::equal, Operand::text},
    Operator{"StringLessThan", Comparator::less, Operand::text},
    Operator{"StringLessThanEquals", Comparator::less_equal, Operand::text},
    Operator{"StringGreaterThan", Comparator::greater, Operand::text},
    Operator{"StringGreaterThanEquals", Comparator::greater_equal, Operand::text},
    Operator{"StringMatches", Comparator::matches, Operand::pattern},
    Operator{"NumericEquals", Comparator::equal, Operand::number},
    Operator{"NumericLessThan", Comparator::less, Operand::number},
    Operator{"NumericLessThanEquals", Comparator::less_equal, Operand::number},
    Operator{"NumericGreaterThan", Comparator::greater, Operand::number},
    Operator{"NumericGreaterThanEquals", Comparator::greater_equal, Operand::number},
    Operator{"BooleanEquals", Comparator::equal, Operand::boolean},
    Operator{"IsPresent", Comparator::present, Operand::boolean},
};

constexpr std::string_view kPathWhy = "compare with a constant";
constexpr std::string_view kTimeWhy = "times are not a type here; compare numbers or texts";
constexpr std::string_view kTypeWhy = "values have the type that their function declares";
constexpr std::array kRefusedOperators = {
    Refused{"StringEqualsPath", kPathWhy},
    Refused{"StringLessThanPath", kPathWhy},
    Refused{"StringLessThanEqualsPath", kPathWhy},
    Refused{"StringGreaterThanPath", kPathWhy},
    Refused{"StringGreaterThanEqualsPath", kPathWhy},
    Refused{"NumericEqualsPath", kPathWhy},
    Refused{"NumericLessThanPath", kPathWhy},
    Refused{"NumericLessThanEqualsPath", kPathWhy},
    Refused{"NumericGreaterThanPath", kPathWhy},
    Refused{"NumericGreaterThanEqualsPath", kPathWhy},
    Refused{"BooleanEqualsPath", kPathWhy},
    Refused{"TimestampEquals", kTimeWhy},
    Refused{"TimestampLessThan", kTimeWhy},
    Refused{"TimestampLessThanEquals", kTimeWhy},
    Refused{"TimestampGreaterThan", kTimeWhy},
    Refused{"TimestampGreaterThanEquals", kTimeWhy},
    Refused{"TimestampEqualsPath", kTimeWhy},
    Refused{"TimestampLessThanPath", kTimeWhy},
    Refused{"TimestampLessThanEqualsPath", kTimeWhy},
    Refused{"TimestampGreaterThanPath", kTimeWhy},
    Refused{"TimestampGreaterThanEqualsPath", kTimeWhy},
    Refused{"IsNull", "use IsPresent"},
    Refused{"IsNumeric", kTypeWhy},
    Refused{"IsString", kTypeWhy},
    Refused{"IsBoolean", kTypeWhy},
    Refused{"IsTimestamp", kTypeWhy},
    Refused{"Condition", "JSONata is not; write the rule with Variable and a comparison"},
};

std::optional<Literal> operand(const Cursor& cursor, Operand kind) {
  if (kind == Operand::number) {
    if (const auto value = cursor.number({std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()}))
      return Literal(*value);
    return std::nullopt;
  }
  if (kind == Operand::boolean) {
    if (const auto value = cursor.boolean()) return Literal(*value);
    return std::nullopt;
  }
  const auto text = quoted(cursor);
  if (!text) return std::nullopt;
  if (text->size() > limits::condition_text_max) {
    cursor.error(str("has ", text->size(), " bytes, at most ", limits::condition_text_max, " are allowed"));
    return std::nullopt;
  }
  if (kind == Operand::pattern && text->find('\\') != std::string::npos) {
    cursor.error(R"(escapes in patterns are not supported; '*' stands for any text)");
  }
  return Literal(*text);
}

ConditionDraft read_condition(const Part& part);

// A rule inside And, Or or Not.
ConditionDraft read_nested(const Cursor& cursor) {
  Fields fields(cursor);
  if (!fields.valid()) return {};
  (void)fields.optional("Comment");
  if (const auto next = fields.optional("Next")) next->error("only the outermost rule has 'Next'");
  ConditionDraft out = read_condition({cursor, fields});
  fields.finish();
  return out;
}

void read_list(const Cursor& list, Condition::Kind kind, ConditionDraft& out) {
  out.kind = kind;
  if (list.node().kind == Node::Kind::sequence && list.node().items.empty())
    list.error("is empty; write at least one rule");
  for (const Cursor& item : list.items()) out.terms.push_back(read_nested(item));
}

// A comparison or And, Or, Not; exactly one of them must be there.
ConditionDraft read_condition(const Part& part) {
  ConditionDraft out;
  int found = 0;
  const auto variable = part.fields.optional("Variable");
  for (const Operator& op : kOperators) {
    const auto field = part.fields.optional(op.field);
    if (!field || ++found > 1) continue;
    out.comparator = op.comparator;
    if (auto literal = operand(*field, op.operand)) out.right = std::move(*literal);
    if (!variable) part.cursor.error(R"(the field 'Variable' is missing; write "Variable": "$.FIELD")");
  }
  if (variable) out.left = path(*variable);
  if (const auto list = part.fields.optional("And"); list && ++found == 1) read_list(*list, Condition::Kind::all, out);
  if (const auto list = part.fields.optional("Or"); list && ++found == 1) read_list(*list, Condition::Kind::any, out);
  if (const auto rule = part.fields.optional("Not"); rule && ++found == 1) {
    out.kind = Condition::Kind::negate;
    out.terms.push_back(read_nested(*rule));
  }
  for (const Refused& refused : kRefusedOperators) found += part.cursor.node().find(refused.field) != nullptr ? 1 : 0;
  refuse(part, kRefusedOperators);
  if (found == 0)
    part.cursor.error("compares nothing; write a comparison such as \"NumericGreaterThan\": 0, or And, Or, Not");
  if (found > 1) part.cursor.error("holds more than one comparison; combine them with And or Or");
  return out;
}

}  // namespace

void read_choices(const Part& part, State& state) {
  if (const auto field =
          part.fields.required("Choices", R"("Choices": [{"Variable": "$.FIELD", …, "Next": "STATE"}])")) {
    if (field->node().kind == Node::Kind::sequence && field->node().items.empty())
      field->error("is empty; write at least one rule");
    for (const Cursor& item : field->items()) {
      Fields fields(item);
      if (!fields.valid()) continue;
      (void)fields.optional("Comment");
      ChoiceRule rule{.condition = read_condition({item, fields})};
      if (fields.required("Next", R"("Next": "STATE")")) rule.next = *target(fields, "Next");
      fields.finish();
      state.rules.push_back(std::move(rule));
    }
  }
  state.fallback = target(part.fields, "Default");
}

}  // namespace sluice::spec::asl
