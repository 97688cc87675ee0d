#include "spec/csv/profile_csv.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {

void PrintTo(const CsvError& error, std::ostream* out) {
  *out << error.line << ':' << error.column << ": " << error.message;
}

namespace {

const std::string kHeader = "batch,vcpu,vgpu,mean_ms,sd_ms\n";

std::vector<CsvError> errors_in(const std::string& text) {
  return read_profile_csv(text).errors;
}
using Errors = std::vector<CsvError>;

TEST(ProfileCsv, ReadsRowsByTheHeaderInAnyOrder) {
  const ProfileCsv csv = read_profile_csv(
      "\xEF\xBB\xBF# measured on a quiet machine\r\n\r\n"
      "mean_ms, vgpu ,batch,size,sd_ms,vcpu,device,busy_mean_ms\r\n"
      "86.5,1,1,,4.25,2,,101\r\n"
      "  # slow\r\n"
      "9e2,0,4,1,1,8,,\r\n"
      "7,2,1,1,0,1,h200,");  // no newline at the end
  ASSERT_TRUE(csv.ok()) << csv.errors[0].message;
  EXPECT_EQ(
      csv.table.rows,
      (std::vector<ProfileRow>{
          {.configuration = configuration(1, 2, 1), .size = 1, .mean_ms = 86.5, .sd_ms = 4.25, .busy_mean_ms = 101},
          {.configuration = configuration(4, 8, 0), .size = 1, .mean_ms = 900, .sd_ms = 1, .busy_mean_ms = {}},
          {.configuration = {1, 1, 2, DeviceKind("h200")}, .size = 1, .mean_ms = 7, .sd_ms = 0, .busy_mean_ms = {}}}));
}

TEST(ProfileCsv, SaysLineAndColumnOfEveryError) {
  EXPECT_EQ(errors_in(kHeader + "0,1,1,86,4\n"
                                "# fine\n"
                                "1,x,1,-3,\n"
                                "1, 1,1,nan ,4\n"
                                "99999999999999999999,1,70000,5,1\n"
                                "1,1,1,5\n"
                                "1,1,1,0,1\n"
                                "1,1,1,5,1,1\n"),
            (Errors{{2, 1, "batch is 0; it must be a whole number from 1 to 4096"},
                    {4, 3, "vcpu is 'x'; it must be a whole number"},
                    {4, 10, "sd_ms is blank; write a number"},
                    {5, 8, "mean_ms is 'nan'; it must be a number"},
                    {6, 1, "batch is '99999999999999999999'; it must be a whole number"},
                    {6, 24, "vgpu is 70000; it must be a whole number from 0 to 64"},
                    {7, 1, "the line has 4 fields, the header has 5"},
                    {8, 7, "mean_ms is 0; it must be above 0 and at most 31622400000 ms"},
                    {9, 1, "the line has 6 fields, the header has 5"}}));
}

TEST(ProfileCsv, RefusesRowsOfOtherSizes) {
  EXPECT_EQ(errors_in("batch,vcpu,vgpu,mean_ms,sd_ms,size\n1,1,1,86,4,1\n2,1,1,99,4,2\n"),
            (Errors{{3, 12, "size is 2; requests have no size, so keep the rows of size 1 alone"}}));
}

TEST(ProfileCsv, SaysWhichLineARowRepeats) {
  EXPECT_EQ(errors_in(kHeader + "1,1,1,86,4\n\n2,1,1,99,4\n1,1,1,87,4\n"),
            (Errors{{5, 1, "same configuration as an earlier row; keep one of them (line 2)"}}));
}

TEST(ProfileCsv, SuggestsTheNearestColumn) {
  EXPECT_EQ(errors_in("batch,vcpu,vgpu,mean_ms,sd_ms,busy_maen_ms,colour,batch\n1,1,1,5,1,6,red,2\n"),
            (Errors{{1, 31, "unknown column 'busy_maen_ms'; did you mean busy_mean_ms?"},
                    {1, 44, "unknown column 'colour'; remove it or see the profile format"},
                    {1, 51, "column batch appears twice; keep one of them"}}));
}

TEST(ProfileCsv, SaysWhatTheHeaderLacks) {
  EXPECT_EQ(errors_in("batch,vcpu,mean_ms,sd_ms\n1,1,5,1\n"),
            (Errors{{1, 1, "the header has no column vgpu; it needs batch,vcpu,vgpu,mean_ms,sd_ms"}}));
  EXPECT_EQ(errors_in("# nothing\n\n"),
            (Errors{{3, 1, "there is no header; the first line must be batch,vcpu,vgpu,mean_ms,sd_ms"}}));
  EXPECT_EQ(errors_in(kHeader),
            (Errors{{1, 1, "the table has no rows; add one, or leave the profile out and it is measured"}}));
}

TEST(ProfileCsv, RefusesDevicesThatDoNotMatchTheSlices) {
  EXPECT_EQ(
      errors_in("device,batch,vcpu,vgpu,mean_ms,sd_ms\ncpu,1,1,1,5,1\n  "
                "gpu,1,1,0,5,1\nfar-too-long,1,1,1,5,1\nGPU,1,1,1,5,1\n"),
      (Errors{
          {2, 1, "device is cpu but vgpu is 1; write vgpu 0 or the kind of GPU"},
          {3, 3, "device is gpu but vgpu is 0; give at least one slice or write cpu"},
          {4, 1,
           "device is 'far-too-long'; write cpu, gpu or a kind of GPU: 1 to 8 lower-case letters, digits, '-', '_' and "
           "'.'"},
          {5, 1,
           "device is 'GPU'; write cpu, gpu or a kind of GPU: 1 to 8 lower-case letters, digits, '-', '_' and '.'"}}));
}

TEST(ProfileCsv, BoundsLinesRowsErrorsAndText) {
  EXPECT_EQ(errors_in(kHeader + "1,1,1,5," + std::string(2000, '1') + "\n1,1,1,5,1\n"),
            (Errors{{2, 1024, "the line has 2008 bytes; the most is 1024"}}));
  EXPECT_EQ(errors_in(std::string(2000, 'x') + "\n1,1,1,5,1\n").size(), 1u);

  std::string rows = kHeader;
  for (int i = 0; i < 100'001; ++i) rows += str(i % 4096 + 1, ',', i / 4096, ",1,5,1\n");
  EXPECT_EQ(errors_in(rows), (Errors{{100'002, 1, "more rows than 100000; split the function or leave rows out"}}));

  std::string wrong = kHeader;
  for (int i = 0; i < 1000; ++i) wrong += "x,x,x,x,x\n";
  EXPECT_EQ(errors_in(wrong).size(), limits::errors_reported_max);
  EXPECT_EQ(errors_in(std::string(limits::document_bytes_max + 1, '\n')).size(), 1u);
}

ProfileRow a_row(const Configuration& c, double mean_ms, double sd_ms) {
  return {.configuration = c, .mean_ms = mean_ms, .sd_ms = sd_ms, .busy_mean_ms = {}};
}

ProfileTable random_table(Rng& rng) {
  ProfileTable table;
  const bool kinds = rng.chance(.5), busy = rng.chance(.5);
  for (int batch = 1; batch <= 20; ++batch) {
    const int vcpu = static_cast<int>(rng.below(5));
    const int slices = static_cast<int>(rng.below(4));
    ProfileRow row = a_row(configuration(batch, vcpu, slices), 0, 0);
    if (kinds && row.configuration.slices > 0) row.configuration.device = DeviceKind("h200");
    row.mean_ms = rng.uniform(1e-3, 1e4);
    row.sd_ms = rng.uniform();
    if (busy && rng.chance(.5)) row.busy_mean_ms = row.mean_ms * 1.1;
    table.rows.push_back(row);
  }
  return table;
}

TEST(ProfileCsv, ReadsBackExactlyWhatItWrote) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const ProfileTable table = random_table(rng);
    const ProfileCsv csv = read_profile_csv(write_profile_csv(table));
    ASSERT_TRUE(csv.ok()) << csv.errors[0].message << '\n' << write_profile_csv(table);
    EXPECT_EQ(csv.table, table);
  }
  EXPECT_EQ(write_profile_csv({{a_row(configuration(1, 2, 3), 86.5, 4)}}),
            "batch,vcpu,vgpu,mean_ms,sd_ms\n1,2,3,86.5,4\n");
}

TEST(ProfileCsv, SurvivesDamagedText) {
  Rng rng(2);
  int damaged = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string text = write_profile_csv(random_table(rng));
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(text.size());
      const auto byte = static_cast<char>(rng.below(256));
      rng.chance(.5) ? text.insert(at, 1, byte) : text.replace(at, 1, 1, rng.chance(.5) ? ',' : byte);
    }
    const ProfileCsv csv = read_profile_csv(text);
    damaged += !csv.ok();
    for (const CsvError& error : csv.errors)
      ASSERT_TRUE(error.line >= 1 && error.column >= 1 && !error.message.empty());
    if (!csv.ok()) continue;
    ASSERT_EQ(read_profile_csv(write_profile_csv(csv.table)).table, csv.table);
  }
  EXPECT_GT(damaged, 750);
}

}  // namespace
}  // namespace sluice::spec
