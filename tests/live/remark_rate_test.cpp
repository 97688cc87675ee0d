// Remarks about single requests come at a bounded rate, and what is kept back is counted.
#include "live/remark_rate.h"

#include <gtest/gtest.h>

namespace sluice::live {
namespace {

const Time kT0 = Time::from_ns(1'000'000'000'000);

TEST(RemarkRate, TenASecondPassAndTheNextSecondSaysHowManyDidNot) {
  RemarkRate rate;
  int passed = 0;
  for (int i = 0; i < 25; ++i) passed += rate.pass(kT0 + Duration::ms(i)).has_value() ? 1 : 0;
  EXPECT_EQ(passed, 10);
  EXPECT_EQ(rate.pass(kT0 + Duration::s(1)), 15u);
  EXPECT_EQ(rate.pass(kT0 + Duration::s(1)), 0u);  // said once
}

TEST(RemarkRate, WhereFewComeAllPass) {
  RemarkRate rate;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(rate.pass(kT0 + Duration::ms(200 * i)), 0u);
}

}  // namespace
}  // namespace sluice::live
