#include "spec/csv/mig_profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/load.h"
#include "support/places.h"

namespace sluice::spec {

void PrintTo(const CsvError& error, std::ostream* out);  // profile_csv_test.cpp

namespace {

const std::string kHeader = "Mig instance,Batch size,Workload Number,Throughput,Latency\r\n";
using Errors = std::vector<CsvError>;

Errors errors_in(const std::string& rows) {
  return read_mig_profile(kHeader + rows).errors;
}

TEST(MigProfile, TakesTheRowsOfOneProcessThatRan) {
  const ProfileCsv csv = read_mig_profile(kHeader +
                                              "1,1,1,125,0.008\r\n"
                                              "1,1,2,70,0.014\r\n"  // two processes
                                              "1,8,1,0,0\r\n"       // did not fit
                                              "\r\n"
                                              "7,8,1,1600,0.005",
                                          0.05);
  ASSERT_TRUE(csv.ok()) << csv.errors[0].message;
  EXPECT_EQ(csv.table.rows,
            (std::vector<ProfileRow>{
                {.configuration = configuration(1, 1, 1), .mean_ms = 8, .sd_ms = 8 * 0.05, .busy_mean_ms = {}},
                {.configuration = configuration(8, 1, 7), .mean_ms = 5, .sd_ms = 0.25, .busy_mean_ms = {}}}));
}

TEST(MigProfile, SaysLineAndColumnOfEveryError) {
  EXPECT_EQ(errors_in("1,1,1,125,0.008\n"
                      "0,1,1,125,0.008\n"
                      "1,5000,x,1,0\n"
                      "1,2,1,-3,nan\n"
                      "1,2,1,9\n"
                      "1,2,5,zero,0\n"  // rows that are left out are checked as well
                      "1,1,1,99,0.008\n"
                      "1,4,1,1e-300,0\n"),
            (Errors{{3, 1, "Mig instance is '0'; it must be a whole number from 1 to 64"},
                    {4, 3, "Batch size is '5000'; it must be a whole number from 1 to 4096"},
                    {4, 8, "Workload Number is 'x'; it must be a whole number from 1 to 4096"},
                    {5, 7, "Throughput is '-3'; it must be a number, 0 or above"},
                    {5, 10, "Latency is 'nan'; it must be a number, 0 or above"},
                    {6, 1, "the line has 4 fields, the header has 5"},
                    {7, 7, "Throughput is 'zero'; it must be a number, 0 or above"},
                    {8, 1, "same configuration as an earlier row; keep one of them (line 2)"},
                    {9, 7, "mean_ms is 4e+303; it must be above 0 and at most 31622400000 ms"}}));
}

TEST(MigProfile, RefusesWhatIsNoSuchFile) {
  const std::string must = "it must be Mig instance,Batch size,Workload Number,Throughput,Latency";
  EXPECT_EQ(read_mig_profile("batch,vcpu\n1,1\n").errors, (Errors{{1, 1, "the header is 'batch,vcpu'; " + must}}));
  EXPECT_EQ(read_mig_profile("").errors.size(), 1u);
  EXPECT_EQ(errors_in("1,1,2,70,0.014\n1,8,1,0,0\n"),
            (Errors{{1, 1, "no row of one process has a throughput above 0; there is nothing to choose"}}));
}

TEST(MigProfile, BoundsWhatItReads) {
  EXPECT_EQ(errors_in(std::string(2000, ',')), (Errors{{2, 1, "the line has 2000 bytes; the most is 1024"}}));
  std::string many;
  for (std::size_t i = 0; i <= limits::profile_rows_max; ++i) many += "1,1,2,1,1\n";
  EXPECT_EQ(errors_in(many), (Errors{{100'002, 1, "more rows than 100000"}}));
  EXPECT_EQ(read_mig_profile(std::string(limits::document_bytes_max + 1, 'x')).errors.size(), 1u);
  std::string wrong;
  for (int i = 0; i < 500; ++i) wrong += "x\n";
  EXPECT_EQ(errors_in(wrong).size(), limits::errors_reported_max);
}

Loaded load_with(const std::string& profile, const std::string& csv) {
  const std::map<std::string, std::string> files = {
      {"a.yaml", "functions: {f: {runtime: emulated, profile: " + profile + "}}\n"}, {"mig/f.csv", csv}};
  return load("a.yaml", [&](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error{ErrorCode::not_found, str("there is no file ", path)};
    return found->second;
  });
}

TEST(MigProfile, IsNamedByAFunction) {
  const Loaded loaded = load_with("{mig: mig/f.csv, noise: 0.1}", kHeader + "2,4,1,100,0.04\n");
  ASSERT_TRUE(loaded.document.has_value());
  const Profile& profile = std::get<FunctionList>(*loaded.document).functions.front().profile;
  EXPECT_EQ(std::get<ProfileTable>(profile).rows,
            (std::vector<ProfileRow>{{.configuration = configuration(4, 1, 2), .mean_ms = 40, .sd_ms = 4}}));
}

std::string first_error(const Loaded& loaded) {
  return loaded.document ? "" : to_string(loaded.diagnostics.sorted().front());
}

TEST(MigProfile, ErrorsNameTheFileOfTheProfile) {
  EXPECT_EQ(first_error(load_with("{mig: mig/f.csv}", kHeader + "2,4,1,x,0\n")),
            "mig/f.csv:2:7: error: Throughput is 'x'; it must be a number, 0 or above");
  EXPECT_NE(first_error(load_with("{mig: mig/f.csv, table: [[1, 1, 1, 2, 0]]}", ""))
                .find("has more than one of `table`, `model` and `mig`; keep one"),
            std::string::npos);
  EXPECT_NE(first_error(load_with("{mig: mig/f.csv, noise: -1}", kHeader + "2,4,1,9,0\n")).find("noise"),
            std::string::npos);
}

TEST(MigProfile, ReadsWhatWasPublished) {
  const auto folder = std::filesystem::path(test::in_source("examples/traces/a100-mig-parvagpu/prof_data"));
  std::ifstream file(folder / "resnet50.csv", std::ios::binary);
  ASSERT_TRUE(file);
  const ProfileCsv csv = read_mig_profile(std::string{std::istreambuf_iterator<char>(file), {}});
  ASSERT_TRUE(csv.ok()) << csv.errors[0].message;
  EXPECT_EQ(csv.table.rows.size(), 38u);  // of 45; 7 did not fit
  EXPECT_DOUBLE_EQ(csv.table.rows.front().mean_ms, 1000 / 196.762);
}

}  // namespace
}  // namespace sluice::spec
