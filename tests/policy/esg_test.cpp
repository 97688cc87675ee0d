#include <gtest/gtest.h>

#include "policy/stand.h"

namespace sluice::policy {
namespace {

const std::vector<Rows> kTwoStages{{{1, 1, 1, 10}}, {{1, 1, 1, 10}}};

// One slice is free, a first stage of a young request and a second stage of an older one wait, and it is the first
// stage's turn.
Starts with_one_slice_left(Parameters parameters) {
  Stand stand("esg", kTwoStages, 100, std::move(parameters));
  stand.invoker(0, 8, 2).arrive(0).arrive(1);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 0: (1,1,1) on 0", "s0 of 1: (1,1,1) on 0"}));
  EXPECT_EQ(stand.finish().decide(), (Starts{"s1 of 0: (1,1,1) on 0"}));
  return stand.at(5).finish().arrive(2).decide();
}

TEST(Esg, TakesQueuesInTurn) {
  EXPECT_EQ(with_one_slice_left({}), (Starts{"s0 of 2: (1,1,1) on 0"}));
}

TEST(Esg, TakesQueuesByDeadlineIfAsked) {
  EXPECT_EQ(with_one_slice_left({{"order", 1}}), (Starts{"s1 of 1: (1,1,1) on 0"}));
}

// While first stages start one after the other, the second one of request 0 finds no seven slices, again and again.
// Three failures in a row would give it the least configuration.
TEST(Esg, CountsOneFailureAnInstant) {
  Stand stand("esg", {{{1, 1, 1, 10}}, {{1, 1, 7, 10}, {1, 1, 1, 100}}}, 40);
  stand.invoker(0, 16, 7).arrive(0).arrive(1);
  (void)stand.decide();
  stand.at(5).finish().arrive(2).arrive(3).arrive(4).arrive(5);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 2: (1,1,1) on 0", "s0 of 3: (1,1,1) on 0", "s0 of 4: (1,1,1) on 0",
                                    "s0 of 5: (1,1,1) on 0"}));
}

// The two best paths begin with two slices, of which one is left for the second request.
Starts where_the_best_paths_begin_alike(Parameters parameters) {
  parameters["k"] = 2;
  Stand stand("esg", {{{1, 1, 2, 10}, {1, 8, 1, 20}}, {{1, 1, 1, 10}, {1, 2, 1, 10}}}, 100, std::move(parameters));
  return stand.invoker(0, 16, 3).arrive(0).arrive(1).decide();
}

TEST(Esg, OffersDifferentFirstConfigurationsIfAsked) {
  EXPECT_EQ(where_the_best_paths_begin_alike({}), (Starts{"s0 of 0: (1,1,2) on 0"}));
  EXPECT_EQ(where_the_best_paths_begin_alike({{"distinct", 1}}),
            (Starts{"s0 of 0: (1,1,2) on 0", "s0 of 1: (1,8,1) on 0"}));
}

// Nothing is fast enough.
Starts out_of_reach(Parameters parameters) {
  Stand stand("esg", {{{1, 1, 1, 100}, {1, 2, 1, 40}, {1, 1, 7, 30}}}, 20, std::move(parameters));
  return stand.invoker(0, 16, 7).arrive(0).decide();
}

TEST(Esg, FallsBackToTheFastestTheLeastOrTheCheapest) {
  EXPECT_EQ(out_of_reach({}), (Starts{"s0 of 0: (1,1,7) on 0"}));
  EXPECT_EQ(out_of_reach({{"fallback", 1}}), (Starts{"s0 of 0: (1,1,1) on 0"}));
  EXPECT_EQ(out_of_reach({{"fallback", 2}}), (Starts{"s0 of 0: (1,2,1) on 0"}));
}

// The first cannot be in time any more, those behind it can.
TEST(Esg, GivesUpWhatIsTooLateIfAsked) {
  const auto starts = [](Parameters parameters) {
    Stand stand("esg", {{{1, 1, 1, 10}}}, 40, std::move(parameters));
    stand.invoker(0, 16, 1).arrive(0).at(20).arrive(1).at(35).reload();
    return stand.decide();
  };
  EXPECT_EQ(starts({}), (Starts{"s0 of 0: (1,1,1) on 0"}));
  EXPECT_EQ(starts({{"drop", 1}}), (Starts{"s0 of 1: (1,1,1) on 0"}));
}

}  // namespace
}  // namespace sluice::policy
