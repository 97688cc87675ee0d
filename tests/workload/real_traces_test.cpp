// The published traces themselves, where they lie beside the source tree; they are not part of it.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "workload/streams.h"

namespace sluice::workload {
namespace {

// Empty if there is no such file.
std::string shared_file(const std::string& name) {
  std::ifstream file(std::filesystem::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "data" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_functions(const std::string& text, std::size_t functions, std::size_t invocations) {
  const AzureFunctions trace = read_azure_functions(text);
  ASSERT_TRUE(trace.ok()) << describe(trace.errors, "invocations.csv");
  EXPECT_EQ(trace.rows.size(), functions);
  EXPECT_EQ(trace.first_minute, 480);
  EXPECT_EQ(trace.minutes, 480u);
  const auto arrivals = take(a_stream(a_workload(Trace{.file = "invocations.csv"}), 1, text));
  EXPECT_EQ(arrivals.size(), invocations);
  EXPECT_LE(arrivals.back().at, Duration::s(480 * 60));
  EXPECT_GT(arrivals.back().at, Duration::s(479 * 60));
  for (std::uint32_t i = 0; i < kApplications.size(); ++i)
    EXPECT_GT(std::ranges::count(arrivals, i, &Arrival::application), 0) << i;
}

TEST(RealTraces, AzureFunctions100) {
  const std::string text = shared_file("azure-functions-2019/100/invocations.csv");
  if (text.empty()) GTEST_SKIP() << "the trace is not here";
  expect_functions(text, 100, 339'657);
}

TEST(RealTraces, AzureFunctions500) {
  const std::string text = shared_file("azure-functions-2019/500/invocations.csv");
  if (text.empty()) GTEST_SKIP() << "the trace is not here";
  expect_functions(text, 500, 3'037'902);
}

TEST(RealTraces, AzureLlmCode) {
  const std::string text = shared_file("azure-llm-2023/AzureLLMInferenceTrace_code.csv");
  if (text.empty()) GTEST_SKIP() << "the trace is not here";
  const AzureLlm trace = read_azure_llm(text);
  ASSERT_TRUE(trace.ok()) << describe(trace.errors, "code.csv");
  const auto arrivals = take(a_stream(a_workload(Trace{.format = TraceFormat::azure_llm_2023}), 1, text));
  ASSERT_EQ(arrivals.size(), 8819u);
  EXPECT_EQ(arrivals.back().at, Duration::ns(3'435'948'056'000));
  const Moments gaps = gaps_of(arrivals);
  EXPECT_NEAR(1 / gaps.mean_s, 2.57, 0.01);
  EXPECT_NEAR(gaps.cv, 13.2, 0.1);
  double sizes = 0;
  for (const Arrival& arrival : arrivals) sizes += arrival.size;
  EXPECT_NEAR(sizes / 8819, 1, 1e-12);
}

}  // namespace
}  // namespace sluice::workload
