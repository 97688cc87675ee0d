#include "domain/profile_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "domain/limits.h"

namespace sluice {
namespace {

const double kNan = std::nan("");

ProfileTable a_table() {
  return {{{.configuration = configuration(1, 1, 1), .mean_ms = 86, .sd_ms = 4, .busy_mean_ms = {}},
           {.configuration = configuration(2, 1, 1), .mean_ms = 120, .sd_ms = 4, .busy_mean_ms = {}},
           {.configuration = configuration(1, 2, 0), .mean_ms = 500, .sd_ms = 9, .busy_mean_ms = {}}}};
}

ProfileModel a_model() {
  return {.exec = Duration::ms(86),
          .floor = .35,
          .cpu = .15,
          .gpu = .5,
          .beta = .7,
          .gamma = .8,
          .batch = {1, 2},
          .vcpu = {1, 2},
          .slices = {1, 7},
          .noise = .05};
}

TEST(ProfileRules, FindNothingWrongWithASoundProfile) {
  EXPECT_TRUE(problems_of(a_table()).empty());
  EXPECT_TRUE(problems_of(a_model()).empty());
}

TEST(ProfileRules, NameRowFieldAndBothNumbers) {
  struct Case {
    std::function<void(ProfileRow&)> spoil;
    std::string field, message;
  };
  const Case cases[] = {
      {[](ProfileRow& r) { r.configuration.batch = 0; }, "batch",
       "batch is 0; it must be a whole number from 1 to 4096"},
      {[](ProfileRow& r) { r.configuration.batch = 4097; }, "batch",
       "batch is 4097; it must be a whole number from 1 to 4096"},
      {[](ProfileRow& r) { r.configuration.vcpu = 5000; }, "vcpu",
       "vcpu is 5000; it must be a whole number from 0 to 4096"},
      {[](ProfileRow& r) { r.configuration.slices = 65; }, "vgpu",
       "vgpu is 65; it must be a whole number from 0 to 64"},
      {[](ProfileRow& r) { r.configuration.slices = 0; }, "device",
       "device is gpu but vgpu is 0; give at least one slice or write cpu"},
      {[](ProfileRow& r) { r.configuration.device = DeviceKind::cpu(); }, "device",
       "device is cpu but vgpu is 1; write vgpu 0 or the kind of GPU"},
      {[](ProfileRow& r) { r.configuration.device = DeviceKind("H 200"); }, "device",
       "device is 'H 200'; use lower-case letters, digits, '-', '_' and '.'"},
      {[](ProfileRow& r) { r.size = 2; }, "size", "size is 2; requests have no size, so keep the rows of size 1 alone"},
      {[](ProfileRow& r) { r.size = kNan; }, "size",
       "size is nan; requests have no size, so keep the rows of size 1 alone"},
      {[](ProfileRow& r) { r.mean_ms = -4; }, "mean_ms",
       "mean_ms is -4; it must be above 0 and at most 31622400000 ms"},
      {[](ProfileRow& r) { r.mean_ms = 0; }, "mean_ms", "mean_ms is 0; it must be above 0 and at most 31622400000 ms"},
      {[](ProfileRow& r) { r.mean_ms = kNan; }, "mean_ms",
       "mean_ms is nan; it must be above 0 and at most 31622400000 ms"},
      {[](ProfileRow& r) { r.mean_ms = INFINITY; }, "mean_ms",
       "mean_ms is inf; it must be above 0 and at most 31622400000 ms"},
      {[](ProfileRow& r) { r.sd_ms = -1; }, "sd_ms", "sd_ms is -1; it must be a number from 0 to 31622400000"},
      {[](ProfileRow& r) { r.busy_mean_ms = kNan; }, "busy_mean_ms",
       "busy_mean_ms is nan; it must be above 0 and at most 31622400000 ms"},
  };
  for (const Case& c : cases) {
    ProfileTable table = a_table();
    c.spoil(table.rows[1]);
    EXPECT_EQ(problems_of(table), (std::vector<ProfileProblem>{{1, c.field, c.message, {}}}));
  }
}

TEST(ProfileRules, RefuseTheSameConfigurationTwice) {
  ProfileTable table = a_table();
  table.rows.push_back(table.rows[1]);
  table.rows.push_back(table.rows[0]);
  const auto problems = problems_of(table);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].row, 3u);
  EXPECT_EQ(problems[0].repeats, 1u);
  EXPECT_EQ(problems[1].row, 4u);
  EXPECT_EQ(problems[1].repeats, 0u);
}

TEST(ProfileRules, RefuseEmptyAndOversizedTables) {
  ASSERT_EQ(problems_of(ProfileTable{}).size(), 1u);
  EXPECT_EQ(problems_of(ProfileTable{})[0].row, std::nullopt);
  ProfileTable table = a_table();
  table.rows.resize(limits::profile_rows_max + 1);
  EXPECT_EQ(problems_of(table)[0].message, "the table has 100001 rows; the most is 100000");
}

TEST(ProfileRules, ReportABoundedNumberOfProblems) {
  ProfileTable table;
  table.rows.resize(1000);  // all alike, all without a time
  EXPECT_EQ(problems_of(table).size(), limits::errors_reported_max);
}

TEST(ProfileRules, NameTheParameterOfAModel) {
  struct Case {
    std::function<void(ProfileModel&)> spoil;
    std::string field, message;
  };
  const Case cases[] = {
      {[](ProfileModel& m) { m.exec = Duration(); }, "exec",
       "exec is 0; it must be above 0 and at most 31622400000 ms"},
      {[](ProfileModel& m) { m.gpu = .25; }, "floor",
       "floor 0.35 + cpu 0.15 + gpu 0.25 is 0.75, not 1; they are shares of exec, so change one of them by 0.25"},
      {[](ProfileModel& m) { m.beta = 0; }, "beta", "beta is 0; it must be above 0 and at most 8"},
      {[](ProfileModel& m) { m.gamma = kNan; }, "gamma", "gamma is nan; it must be above 0 and at most 8"},
      {[](ProfileModel& m) { m.gamma = INFINITY; }, "gamma", "gamma is inf; it must be above 0 and at most 8"},
      {[](ProfileModel& m) { m.noise = -.1; }, "noise", "noise is -0.1; it must be a number from 0 to 10"},
      {[](ProfileModel& m) { m.batch = {}; }, "batch", "batch is empty; list at least one value, such as [1]"},
      {[](ProfileModel& m) {
         m.batch = {1, 0};
       },
       "batch", "batch is 0; it must be a whole number from 1 to 4096"},
      {[](ProfileModel& m) {
         m.vcpu = {0, 1};
       },
       "vcpu", "vcpu contains 0, but the model divides by vCPUs; use a table for rows without vCPUs"},
      {[](ProfileModel& m) {
         m.slices = {0, 1};
       },
       "vgpu", "vgpu contains 0, but the model divides by slices; use a table for CPU rows"},
      {[](ProfileModel& m) { m.slices = {65}; }, "vgpu", "vgpu is 65; it must be a whole number from 0 to 64"},
  };
  for (const Case& c : cases) {
    ProfileModel model = a_model();
    c.spoil(model);
    EXPECT_EQ(problems_of(model), (std::vector<ProfileProblem>{{{}, c.field, c.message, {}}}));
  }
}

TEST(ProfileRules, AcceptSharesThatAddUpWithinRounding) {
  ProfileModel model = a_model();
  model.floor = .35 + 5e-7;
  EXPECT_TRUE(problems_of(model).empty());
  model.floor = .35 + 2e-6;
  EXPECT_EQ(problems_of(model).size(), 1u);
  model.floor = kNan;
  EXPECT_EQ(problems_of(model).size(), 2u);
}

TEST(ProfileRules, RefuseAModelWithTooManyConfigurations) {
  ProfileModel model = a_model();
  for (std::uint16_t n = 1; n <= 400; ++n) model.batch.push_back(n), model.vcpu.push_back(n);
  ASSERT_EQ(problems_of(model).size(), 1u);
  EXPECT_EQ(problems_of(model)[0].field, "batch");
}

}  // namespace
}  // namespace sluice
