#include "invoker/crash_pauses.h"

#include <gtest/gtest.h>

namespace sluice::invoker {
namespace {

constexpr CrashPauses::Function kOne{ApplicationId(0), FunctionId(0)}, kOther{ApplicationId(0), FunctionId(1)};

Time at(double seconds) {
  return Time() + Duration::s(seconds);
}

CrashPauses after(std::uint32_t crashes) {
  CrashPauses out;
  for (std::uint32_t i = 0; i < crashes; ++i) out.crashed(kOne, at(100));
  return out;
}

TEST(CrashPauses, BeginAfterAFewCrashesAndDouble) {
  EXPECT_EQ(after(0).pause(kOne, at(100)), Duration());
  EXPECT_EQ(after(3).pause(kOne, at(100)), Duration());
  EXPECT_EQ(after(4).pause(kOne, at(100)), Duration::ms(100));
  EXPECT_EQ(after(6).pause(kOne, at(100)), Duration::ms(400));
  EXPECT_EQ(after(1'000).pause(kOne, at(100)), CrashPauses::kLongest);
  EXPECT_EQ(after(6).pause(kOther, at(100)), Duration());
}

TEST(CrashPauses, EndWithAnAnswerATimeWithoutCrashesOrTheApplication) {
  CrashPauses answered = after(6);
  answered.answered(kOne);
  EXPECT_EQ(answered.pause(kOne, at(100)), Duration());
  EXPECT_EQ(after(6).pause(kOne, at(161)), Duration());
  CrashPauses later = after(6);
  later.crashed(kOne, at(161));
  EXPECT_EQ(later.pause(kOne, at(161)), Duration());
  CrashPauses gone = after(6);
  gone.forget(ApplicationId(0));
  EXPECT_EQ(gone.pause(kOne, at(100)), Duration());
}

}  // namespace
}  // namespace sluice::invoker
