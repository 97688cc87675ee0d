// Condition: when a stage runs. A tree over comparisons of earlier outputs, evaluated where the data are.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/ids.h"

namespace sluice {

// An output of an earlier stage, or an input of the request (`stage` is none): "A.boxes", "request.image".
struct Reference {
  StageId stage;
  std::string output;
  friend auto operator<=>(const Reference&, const Reference&) = default;
  void visit(auto& archive) { archive(stage, output); }
};

enum class Comparator { equal, not_equal, less, less_equal, greater, greater_equal, present, matches };
constexpr Comparator last_of(Comparator) {
  return Comparator::matches;
}
using Literal = std::variant<bool, double, std::string>;

struct Comparison {
  Reference left;
  Comparator comparator = Comparator::equal;
  Literal right;  // `present`: bool; `matches`: a pattern where * stands for any text
  friend bool operator==(const Comparison&, const Comparison&) = default;
  void visit(auto& archive) { archive(left, comparator, right); }
};

struct Condition {
  enum class Kind { compare, all, any, negate, otherwise };
  friend constexpr Kind last_of(Kind) { return Kind::otherwise; }
  Kind kind = Kind::compare;
  Comparison comparison;         // compare
  std::vector<Condition> terms;  // all, any: one or more; negate: exactly one
  friend bool operator==(const Condition&, const Condition&) = default;
  void visit(auto& archive) { archive(kind, comparison, terms); }
};

[[nodiscard]] std::string_view symbol_of(Comparator comparator);  // "<=", "present"

}  // namespace sluice
