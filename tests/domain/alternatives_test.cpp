#include "domain/alternatives.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Kind = Condition::Kind;

Stage a_stage(std::vector<StageId> after, std::optional<Kind> when = std::nullopt) {
  Stage out;
  out.after = std::move(after);
  if (when) out.when = Condition{.kind = *when};
  return out;
}

const StageId a{0}, b{1};

TEST(Alternatives, AreTheConditionsBesideOtherwise) {
  const Workflow workflow{{a_stage({}), a_stage({}), a_stage({a}, Kind::compare), a_stage({a}),
                           a_stage({b}, Kind::compare), a_stage({a}, Kind::otherwise), a_stage({a}, Kind::all)}};
  EXPECT_EQ(alternatives_of(workflow, workflow.stages[5]), (std::vector<StageId>{StageId(2), StageId(6)}));
}

TEST(Alternatives, OtherwiseIsACondition) {
  EXPECT_TRUE(is_otherwise(a_stage({a}, Kind::otherwise)));
  EXPECT_FALSE(is_otherwise(a_stage({a}, Kind::negate)));
  EXPECT_FALSE(is_otherwise(a_stage({a})));
}

}  // namespace
}  // namespace sluice
