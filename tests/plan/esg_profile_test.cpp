#include "support/esg_profile.h"

#include <gtest/gtest.h>

namespace sluice::esg_profile {
namespace {

TEST(EsgProfile, GivesTheReferenceTimes) {
  const std::array configurations{configuration(1, 2, 2), configuration(4, 4, 1), configuration(4, 4, 4),
                                  configuration(8, 8, 7), configuration(32, 16, 7)};
  const std::array<std::array<double, 5>, 6> expected{{{62.2, 160.6, 84.6, 88.5, 177.6},
                                                       {186.9, 677.4, 268.5, 279.0, 658.5},
                                                       {203.3, 747.1, 289.3, 299.6, 710.2},
                                                       {109.5, 262.5, 145.5, 152.0, 293.4},
                                                       {615.5, 2811.1, 935.5, 977.2, 2637.3},
                                                       {503.3, 2172.7, 759.2, 798.7, 2113.5}}};
  for (std::size_t f = 0; f < kFunctions.size(); ++f) {
    EXPECT_DOUBLE_EQ(ms(kFunctions[f], configuration(1, 1, 1)), kFunctions[f].exec_ms);
    for (std::size_t c = 0; c < configurations.size(); ++c) {
      EXPECT_NEAR(ms(kFunctions[f], configurations[c]), expected[f][c], 0.051) << kFunctions[f].name << " " << c;
    }
  }
}

TEST(EsgProfile, HasTheReferenceApplications) {
  EXPECT_EQ(image_classification().minimum_ms(), 526);
  EXPECT_EQ(depth_recognition().minimum_ms(), 1233);
  EXPECT_EQ(background_elimination().minimum_ms(), 1452);
  EXPECT_EQ(expanded_image_classification().minimum_ms(), 1892);
  for (const auto& candidates : expanded_image_classification().candidates()) EXPECT_EQ(candidates.size(), 256u);
}

}  // namespace
}  // namespace sluice::esg_profile
