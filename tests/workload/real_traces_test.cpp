// Pieces of published traces (examples/traces).
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/places.h"
#include "workload/streams.h"

namespace sluice::workload {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file(std::filesystem::path(test::in_source("examples/traces")) / name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_functions(const std::string& text, std::size_t functions, std::size_t invocations) {
  const AzureFunctions trace = read_azure_functions(text);
  ASSERT_TRUE(trace.ok()) << describe(trace.errors, "invocations.csv");
  EXPECT_EQ(trace.rows.size(), functions);
  EXPECT_EQ(trace.minutes, 60u);
  const auto arrivals = take(a_stream(a_workload(Trace{.file = "invocations.csv"}), 1, text));
  EXPECT_EQ(arrivals.size(), invocations);
  EXPECT_LE(arrivals.back().at, Duration::s(60 * 60));
  EXPECT_GT(arrivals.back().at, Duration::s(59 * 60));
  for (std::uint32_t i = 0; i < kApplications.size(); ++i)
    EXPECT_GT(std::ranges::count(arrivals, i, &Arrival::application), 0) << i;
}

TEST(RealTraces, AzureFunctions100) {
  expect_functions(sample("azure-functions-2019/100/invocations.csv"), 40, 48'083);
}

TEST(RealTraces, AzureFunctions500) {
  expect_functions(sample("azure-functions-2019/500/invocations.csv"), 60, 354'484);
}

TEST(RealTraces, AzureLlmCode) {
  const std::string text = sample("azure-llm-2023/AzureLLMInferenceTrace_code.csv");
  const AzureLlm trace = read_azure_llm(text);
  ASSERT_TRUE(trace.ok()) << describe(trace.errors, "code.csv");
  const auto arrivals = take(a_stream(a_workload(Trace{.format = TraceFormat::azure_llm_2023}), 1, text));
  ASSERT_EQ(arrivals.size(), 3000u);
  EXPECT_EQ(arrivals.back().at, Duration::ns(1'088'955'361'000));
  const Moments gaps = gaps_of(arrivals);
  EXPECT_NEAR(1 / gaps.mean_s, 2.75, 0.01);
  EXPECT_NEAR(gaps.cv, 14.6, 0.1);
}

}  // namespace
}  // namespace sluice::workload
