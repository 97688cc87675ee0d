#include "policy/foresight.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

constexpr InvokerId kHere(0), kThere(1);

Time at(double ms) {
  return Time() + Duration::ms(ms);
}

TEST(Foresight, SeesThatARequestWillNeedMoreWhereItIs) {
  Foresight foresight;
  const std::vector<SliceStep> growing{{at(100), 1}, {at(200), -2}};
  foresight.expect(RequestId(1), kHere, growing);
  const std::vector<SliceStep> steady{{at(150), -1}};
  EXPECT_EQ(foresight.least_free(kHere, 3, at(0), steady), 2);    // at 100 ms the other one takes one more
  EXPECT_EQ(foresight.least_free(kThere, 3, at(0), steady), 3);   // nothing is expected there
  EXPECT_EQ(foresight.least_free(kHere, 1, at(0), growing), -1);  // both grow
}

TEST(Foresight, LooksNoFurtherThanTheEndOfThePath) {
  Foresight foresight;
  const std::vector<SliceStep> late{{at(500), 6}, {at(600), -7}};
  foresight.expect(RequestId(1), kHere, late);
  const std::vector<SliceStep> soon{{at(100), -1}};
  EXPECT_EQ(foresight.least_free(kHere, 6, at(0), soon), 6);
}

TEST(Foresight, CountsWhatIsGivenBackBeforeMoreIsTaken) {
  Foresight foresight;
  const std::vector<SliceStep> ending{{at(50), -4}};
  foresight.expect(RequestId(1), kHere, ending);
  const std::vector<SliceStep> growing{{at(100), 3}, {at(200), -4}};
  EXPECT_EQ(foresight.least_free(kHere, 0, at(0), growing), 1);
}

TEST(Foresight, ExpectsTheLastThingItWasTold) {
  Foresight foresight;
  const std::vector<SliceStep> growing{{at(100), 1}, {at(200), -2}}, steady{{at(300), -1}};
  foresight.expect(RequestId(1), kHere, growing);
  foresight.expect(RequestId(1), kThere, growing);  // it has moved
  EXPECT_EQ(foresight.least_free(kHere, 2, at(0), steady), 2);
  EXPECT_EQ(foresight.least_free(kThere, 2, at(0), steady), 1);
  foresight.forget(RequestId(1));
  EXPECT_EQ(foresight.least_free(kThere, 2, at(0), steady), 2);
}

TEST(Foresight, GivesUpOnStepsThatDoNotCome) {
  Foresight foresight;
  const std::vector<SliceStep> growing{{at(100), 1}, {at(900), -2}}, steady{{at(300), -1}};
  foresight.expect(RequestId(1), kHere, growing);
  EXPECT_EQ(foresight.least_free(kHere, 2, at(110), steady), 1);
  EXPECT_EQ(foresight.least_free(kHere, 2, at(130), steady), 2);
}

}  // namespace
}  // namespace sluice::policy
