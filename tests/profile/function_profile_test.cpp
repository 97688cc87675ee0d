#include "profile/function_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "profile/functions.h"

namespace sluice::profile {
namespace {

ProfileRow a_row(int batch, int vcpu, int slices, double mean_ms, double sd_ms = 0) {
  return {.configuration = configuration(batch, vcpu, slices), .mean_ms = mean_ms, .sd_ms = sd_ms, .busy_mean_ms = {}};
}

FunctionProfile made(Profile profile) {
  return FunctionProfile::make(profile).value();
}

std::string error_of(const Profile& profile) {
  return FunctionProfile::make(profile).error().message;
}

TEST(FunctionProfile, GivesTheReferenceTimesOfTheModel) {
  const int configurations[][3] = {{1, 1, 1}, {1, 2, 2}, {4, 4, 1}, {4, 4, 4}, {8, 8, 7}, {32, 16, 7}};
  const double expected[][6] = {
      {86.0, 62.2, 160.6, 84.6, 88.5, 177.6},        {293.0, 186.9, 677.4, 268.5, 279.0, 658.5},
      {319.0, 203.3, 747.1, 289.3, 299.6, 710.2},    {147.0, 109.5, 262.5, 145.5, 152.0, 293.4},
      {1047.0, 615.5, 2811.1, 935.5, 977.2, 2637.3}, {828.0, 503.3, 2172.7, 759.2, 798.7, 2113.5}};
  const std::vector<Function> functions = esg_functions();
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const FunctionProfile profile = FunctionProfile::make(functions[f]).value();
    for (std::size_t i = 0; i < 6; ++i) {
      const auto [batch, vcpu, slices] = configurations[i];
      const Latency latency = profile.latency(configuration(batch, vcpu, slices));
      EXPECT_EQ(std::round(latency.mean_ms * 10) / 10, expected[f][i]) << functions[f].name << ' ' << i;
      EXPECT_NEAR(latency.sd_ms, latency.mean_ms * .05, 1e-9);
      EXPECT_FALSE(latency.extrapolated);
    }
  }
}

TEST(FunctionProfile, OffersTheCrossProductOfAModelSortedAndOnce) {
  Function function = esg_functions()[0];
  std::get<ProfileModel>(function.profile).batch = {32, 1, 2, 4, 8, 12, 16, 24, 1};
  const FunctionProfile profile = FunctionProfile::make(function).value();
  const auto all = profile.configurations();
  EXPECT_EQ(all.size(), 256u);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(all.front(), configuration(1, 1, 1));
  EXPECT_EQ(all.back(), configuration(32, 16, 7));
}

TEST(FunctionProfile, OffersExactlyTheConfigurationsThatHaveARow) {
  const FunctionProfile profile = made(ProfileTable{{a_row(4, 1, 1, 9), a_row(1, 1, 1, 5), a_row(1, 2, 0, 50)}});
  EXPECT_EQ((std::vector<Configuration>(profile.configurations().begin(), profile.configurations().end())),
            (std::vector<Configuration>{configuration(1, 1, 1), configuration(1, 2, 0), configuration(4, 1, 1)}));
}

TEST(FunctionProfile, AnswersEveryRowExactly) {
  ProfileTable table;
  for (const int batch : {1, 2, 8}) {
    for (const int vcpu : {0, 1, 4}) {
      for (const int slices : {0, 1, 7}) {
        ProfileRow row = a_row(batch, vcpu, slices, 1 + static_cast<double>(table.rows.size() * 7 % 83), .5);
        if (slices == 7) row.busy_mean_ms = row.mean_ms * 1.5;
        table.rows.insert(table.rows.begin(), row);
      }
    }
  }
  const FunctionProfile profile = made(table);
  for (const ProfileRow& row : table.rows) {
    EXPECT_EQ(profile.latency(row.configuration), (Latency{row.mean_ms, row.sd_ms, false}));
    const Latency busy = profile.latency(row.configuration, true);
    EXPECT_DOUBLE_EQ(busy.mean_ms, row.busy_mean_ms.value_or(row.mean_ms));
    EXPECT_FALSE(busy.extrapolated);
  }
}

TEST(FunctionProfile, KeepsTheRelativeSpreadAmongBusyNeighbours) {
  ProfileTable table{{a_row(1, 1, 1, 100, 5)}};
  table.rows[0].busy_mean_ms = 120;
  EXPECT_EQ(made(table).latency(configuration(1, 1, 1), true), (Latency{120, 6, false}));
  EXPECT_EQ(made(table).latency(configuration(1, 1, 1), false), (Latency{100, 5, false}));
}

TEST(FunctionProfile, AnswersForAnyGpuFromGenericRowsAndForItsOwnKindFirst) {
  ProfileTable table{{a_row(1, 1, 1, 100), a_row(1, 1, 1, 40)}};
  table.rows[1].configuration.device = DeviceKind("h200");
  const FunctionProfile profile = made(table);
  const auto on = [](const char* kind) { return Configuration{1, 1, 1, DeviceKind(kind)}; };
  EXPECT_EQ(profile.latency(on("h200")).mean_ms, 40);
  EXPECT_EQ(profile.latency(on("a100")), (Latency{100, 0, false}));
  EXPECT_TRUE(profile.knows(DeviceKind("a100")));
  EXPECT_FALSE(profile.knows(DeviceKind::cpu()));
  EXPECT_FALSE(made(ProfileTable{{table.rows[1]}}).knows(DeviceKind("a100")));
  EXPECT_FALSE(FunctionProfile::make(esg_functions()[0]).value().knows(DeviceKind::cpu()));
}

TEST(FunctionProfileDeathTest, AskingForADeviceWithoutTimesIsABug) {
  EXPECT_DEATH(void(made(ProfileTable{{a_row(1, 1, 1, 5)}}).latency(configuration(1, 1, 0))), "CHECK failed.*cpu");
  EXPECT_DEATH(void(FunctionProfile::make(esg_functions()[0]).value().latency(configuration(1, 1, 0))),
               "no times for the CPU");
}

TEST(FunctionProfile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of(ProfileTable{}),
            "profile: the table has no rows; add one, or leave the profile out and it is measured");
  EXPECT_EQ(error_of(ProfileTable{{a_row(1, 1, 1, 5), a_row(2, 1, 1, std::nan(""))}}),
            "profile row 2: mean_ms is nan; it must be above 0 and at most 31622400000 ms");
  EXPECT_EQ(error_of(ProfileTable{{a_row(1, 1, 1, 5), a_row(1, 1, 1, 6)}}),
            "profile row 2: same configuration as an earlier row; keep one of them (row 1)");
  Function function = esg_functions()[0];
  std::get<ProfileModel>(function.profile).slices = {0, 1};
  EXPECT_EQ(
      FunctionProfile::make(function).error().message,
      "function super-resolution: profile: vgpu contains 0, but the model divides by slices; use a table for CPU rows");
}

TEST(FunctionProfile, IsUnavailableUntilMeasured) {
  EXPECT_EQ(FunctionProfile::make(Profile()).error().code, ErrorCode::unavailable);
}

TEST(FunctionProfile, TimesBesideNeighboursLieBetweenAloneAndAllBusy) {
  ProfileTable table;
  table.rows.push_back(a_row(1, 1, 1, 10, 1));
  table.rows.back().busy_mean_ms = 18;
  const FunctionProfile profile = made(table);
  const Configuration c = configuration(1, 1, 1);
  EXPECT_EQ(profile.beside(c, 0), profile.latency(c));
  EXPECT_DOUBLE_EQ(profile.beside(c, 0.25).mean_ms, 12);
  EXPECT_DOUBLE_EQ(profile.beside(c, 1).mean_ms, 18);
  EXPECT_TRUE(profile.beside(configuration(1, 2, 2), 0.5).extrapolated);
}

}  // namespace
}  // namespace sluice::profile
