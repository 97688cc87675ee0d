#include "policy/esg_answers.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

plan::Candidates stage(double ms, double cost, int batch = 1) {
  return {{.configuration = configuration(batch, 1, 1), .ms = ms, .cost = cost}};
}

EsgAnswer answer(std::uint64_t expansions) {
  return {.firsts = {configuration(1, 1, 1)}, .expansions = expansions};
}

TEST(EsgAnswers, AreToldApartByEverythingThatWasAsked) {
  const EsgAnswers::Chain chain{stage(10, 1), stage(20, 2)};
  const EsgTerms terms{.cap = 4};
  EsgAnswers answers;
  answers.put(answers.shelf(chain, terms), 100, answer(7));
  ASSERT_NE(answers.find(chain, terms), nullptr);
  EXPECT_EQ(answers.find(chain, terms)->at(100), answer(7));
  EXPECT_FALSE(answers.find(chain, terms)->contains(101));

  EXPECT_EQ(answers.find(chain, {.cap = 8}), nullptr);
  EXPECT_EQ(answers.find(chain, {.cap = 4, .k = 6}), nullptr);
  EXPECT_EQ(answers.find(chain, {.cap = 4, .distinct_first = true}), nullptr);
  EXPECT_EQ(answers.find({stage(10, 1)}, terms), nullptr);
  EXPECT_EQ(answers.find({stage(10, 1), stage(20, 3)}, terms), nullptr);
  EXPECT_EQ(answers.find({stage(10, 1), stage(20, 2, 2)}, terms), nullptr);
}

TEST(EsgAnswers, AreTakenOverAsFarAsThereIsRoom) {
  const EsgAnswers::Chain chain{stage(10, 1)};
  EsgAnswers found, known(3);
  for (const std::int64_t ms : {1, 2, 3, 4}) found.put(found.shelf(chain, {}), ms, answer(9));
  known.put(known.shelf(chain, {}), 1, answer(5));
  known.add(found);
  EXPECT_EQ(known.size(), 3u);
  EXPECT_EQ(known.find(chain, {})->size(), 3u);
  EXPECT_EQ(known.find(chain, {})->at(1), answer(5)) << "what is known stays";
}

}  // namespace
}  // namespace sluice::policy
