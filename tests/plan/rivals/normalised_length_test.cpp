#include "plan/rivals/normalised_length.h"

#include <gtest/gtest.h>

#include "support/esg_profile.h"

namespace sluice::plan {
namespace {

TEST(NormalisedLength, GivesTheReferenceLengths) {
  const auto expect = [](const esg_profile::Application& application, const std::vector<double>& expected) {
    const auto lengths = average_normalised_lengths(application.candidates());
    ASSERT_EQ(lengths.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(lengths[i], expected[i], 0.0006) << application.name << i;
    }
  };
  expect(esg_profile::image_classification(), {.161, .568, .271});
  expect(esg_profile::depth_recognition(), {.248, .067, .685});
  expect(esg_profile::background_elimination(), {.058, .211, .731});
  expect(esg_profile::expanded_image_classification(), {.163, .044, .567, .152, .075});
}

Candidate candidate(int vcpu, double ms) {
  return {.configuration = configuration(1, vcpu, 1), .ms = ms, .cost = 1};
}

TEST(NormalisedLength, ComparesConfigurationsThatAllStagesHave) {
  const std::vector<Candidates> stages{{candidate(1, 10), candidate(2, 1000)}, {candidate(4, 1), candidate(1, 30)}};
  EXPECT_EQ(average_normalised_lengths(stages), (std::vector{.25, .75}));
}

TEST(NormalisedLength, AConfigurationListedTwiceCountsOnce) {
  const std::vector<Candidates> stages{{candidate(1, 10), candidate(2, 1), candidate(2, 1)}, {candidate(1, 30)}};
  EXPECT_EQ(average_normalised_lengths(stages), (std::vector{.25, .75}));
}

TEST(NormalisedLength, WithoutACommonConfigurationComparesMeans) {
  const std::vector<Candidates> stages{{candidate(1, 10), candidate(2, 20)}, {candidate(4, 45)}};
  EXPECT_EQ(average_normalised_lengths(stages), (std::vector{.25, .75}));
}

TEST(NormalisedLength, AStageThatRunsNothingWeighsNothing) {
  const std::vector<Candidates> stages{{candidate(1, 10)}, {}, {candidate(1, 30)}};
  EXPECT_EQ(average_normalised_lengths(stages), (std::vector{.25, 0., .75}));
  EXPECT_EQ(average_normalised_lengths(std::vector<Candidates>(2)), (std::vector{0., 0.}));
  EXPECT_EQ(average_normalised_lengths(std::vector<Candidates>{{candidate(1, 0)}}), (std::vector{0.}));
}

}  // namespace
}  // namespace sluice::plan
