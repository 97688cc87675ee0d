// The ways out of a Choice: ASL's "the first rule that holds wins" written out as conditions that stand alone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "spec/asl/machine.h"

namespace sluice::spec::asl {

// How a Choice leads to one of its targets. No condition: always.
struct Way {
  std::size_t target;
  Mark mark;  // of the first rule that leads there, or of Default
  std::optional<ConditionDraft> condition;
};
// One way per target, in the order of first mention; exactly one of their conditions holds if there is a Default, at
// most one if there is none. None, with an error, if the conditions become too long. REQUIRES: check() was true.
[[nodiscard]] std::vector<Way> ways(const State& choice, const std::string& field, Import& import);

}  // namespace sluice::spec::asl
