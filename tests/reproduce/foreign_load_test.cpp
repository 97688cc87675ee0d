#include "reproduce/foreign_load.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "workload/azure_llm.h"
#include "workload/minute_trace.h"

namespace sluice::reproduce {
namespace {

using workload::AzureFunctions;

Function a_function(const std::string& name, double ms) {
  Function out{.name = name};
  out.gpu = Body{};
  out.profile = ProfileTable{.rows = {{.configuration = configuration(1, 1, 1), .mean_ms = ms},
                                      {.configuration = configuration(4, 1, 2), .mean_ms = 2 * ms}}};
  return out;
}

// A chain of as many stages as there are times.
Application an_application(const std::string& name, const std::vector<double>& times) {
  Application out{.name = name};
  for (std::size_t i = 0; i < times.size(); ++i) {
    out.functions.push_back(a_function(str("f", i), times[i]));
    Stage stage{.name = str("s", i), .function = FunctionId(static_cast<FunctionId::rep>(i))};
    if (i > 0) stage.after = {StageId(static_cast<StageId::rep>(i - 1))};
    out.workflow.stages.push_back(std::move(stage));
  }
  return out;
}

// Four slices; two applications that hold one for 0.5 and for 2 seconds.
Experiment an_experiment() {
  Experiment out;
  out.cluster.nodes = {NodeGroup{.count = 2, .vcpu = 4, .gpus = 1, .slices_per_gpu = 2}};
  out.applications = {an_application("short", {200, 300}), an_application("long", {2000})};
  return out;
}

// By hash "b" calls the first of two applications and "a" the second.
AzureFunctions a_trace(std::vector<std::uint32_t> first, std::vector<std::uint32_t> second) {
  AzureFunctions out{.minutes = first.size()};
  out.rows = {{"b", std::move(first)}, {"a", std::move(second)}};
  return out;
}

Target a_target(double slices, std::uint64_t requests, std::uint64_t warmup = 0) {
  return {.slices = slices, .slice_seconds = {0.5, 2}, .requests = requests, .warmup = warmup};
}

const Trace& trace_of(const Piece& piece) {
  return std::get<Trace>(piece.workload.arrivals);
}

TEST(ForeignLoad, AFunctionCallsTheApplicationOfItsHash) {
  EXPECT_EQ(workload::application_by_hash("a", 4), 3u);
  EXPECT_EQ(workload::application_by_hash("b", 4), 2u);
  EXPECT_EQ(workload::application_by_hash("c", 4), 1u);
  EXPECT_EQ(workload::application_by_hash("thumbnail", 4), 0u);
  EXPECT_EQ(workload::application_by_hash("thumbnail", 3), 2u);
}

TEST(ForeignLoad, ARequestHoldsOneSliceForAllItsStages) {
  const auto each = slice_seconds(an_experiment());
  ASSERT_TRUE(each.ok());
  EXPECT_EQ(*each, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(slices_of(an_experiment().cluster), 4);
}

TEST(ForeignLoad, ScalesCountsToTheSlicesWanted) {
  // 60 · 0.5 + 15 · 2 = 60 slice-seconds a minute are one slice; 3 are wanted, with 225 requests.
  const auto piece = piece_of_minutes(a_trace({60, 60}, {15, 15}), a_target(3, 450), 0);
  ASSERT_TRUE(piece.ok());
  EXPECT_DOUBLE_EQ(trace_of(*piece).rate_scale, 3);
  EXPECT_EQ(trace_of(*piece).time_scale, 1);
  EXPECT_EQ(piece->workload.requests, 450u);
  EXPECT_EQ(piece->trace_text, "HashOwner,HashApp,HashFunction,Trigger,0,1\n-,-,b,-,60,60\n-,-,a,-,15,15\n");
}

TEST(ForeignLoad, ScalesEachPieceByItself) {
  const AzureFunctions trace = a_trace({60, 120}, {15, 30});
  const auto busy = piece_of_minutes(trace, a_target(3, 225), 0), quiet = piece_of_minutes(trace, a_target(3, 225), 1);
  ASSERT_TRUE(busy.ok() && quiet.ok());
  EXPECT_DOUBLE_EQ(trace_of(*busy).rate_scale, 3);  // both minutes are the busiest hour, and the first is first
  EXPECT_DOUBLE_EQ(trace_of(*quiet).rate_scale, 1.5);
}

TEST(ForeignLoad, PlaysTheWholeMinutesThatComeNearest) {
  const AzureFunctions trace = a_trace({60, 60, 60, 60}, {15, 15, 15, 15});  // 75 requests a minute for a slice
  const auto requests = [&](std::uint64_t wanted, std::uint64_t warmup) {
    return piece_of_minutes(trace, a_target(1, wanted, warmup), 0)->workload.requests;
  };
  EXPECT_EQ(requests(100, 0), 75u);
  EXPECT_EQ(requests(120, 0), 150u);
  EXPECT_EQ(requests(100, 20), 130u);
  EXPECT_EQ(requests(9'000, 0), 300u);  // all there is
  EXPECT_EQ(requests(30, 0), 30u);      // a minute is more than wanted
}

TEST(ForeignLoad, PiecesFollowFromTheBusiestHourRoundTheTrace) {
  std::vector<std::uint32_t> counts(100, 10);
  for (std::size_t m = 30; m < 90; ++m) counts[m] = 12;
  for (std::size_t m = 0; m < 100; ++m) counts[m] += 1000 * static_cast<std::uint32_t>(m % 2);  // to tell them apart
  counts[45] += 1;  // so that the hour begins at minute 30
  const AzureFunctions trace = a_trace(counts, std::vector<std::uint32_t>(100));
  const double mean = 512;
  const auto piece = [&](std::uint64_t stream) {
    const auto made = piece_of_minutes(trace, a_target(0.5 * mean / 60, 20 * 512), stream);
    return workload::read_azure_functions(made->trace_text).rows[0].minutes;
  };
  EXPECT_EQ(piece(0).size(), 20u);
  EXPECT_EQ(piece(0), std::vector<std::uint32_t>(counts.begin() + 30, counts.begin() + 50));
  EXPECT_EQ(piece(1), std::vector<std::uint32_t>(counts.begin() + 50, counts.begin() + 70));
  auto over_the_end = std::vector<std::uint32_t>(counts.begin() + 90, counts.end());
  over_the_end.insert(over_the_end.end(), counts.begin(), counts.begin() + 10);
  EXPECT_EQ(piece(3), over_the_end);
}

TEST(ForeignLoad, RefusesAPieceWithoutMeasuredRequests) {
  EXPECT_FALSE(piece_of_minutes(a_trace({0, 0}, {0, 0}), a_target(1, 10), 0).ok());
  EXPECT_FALSE(piece_of_minutes(a_trace({60, 60}, {15, 15}), a_target(1, 10, 1'000'000), 0).ok());
  EXPECT_FALSE(piece_of_minutes(a_trace({60, 0}, {15, 0}), a_target(1, 50), 1).ok());
}

TEST(ForeignLoad, TheLoadWantedComesOut) {
  Experiment experiment = an_experiment();
  const AzureFunctions trace = a_trace({600, 900, 400}, {150, 100, 300});
  const auto piece = piece_of_minutes(trace, a_target(0.8 * 4, 4'000'000), 0);
  ASSERT_TRUE(piece.ok());
  experiment.workload = piece->workload;
  EXPECT_NEAR(offered_slice_load(experiment, 1, piece->trace_text).value(), 0.8, 0.02);
  experiment.workload = poisson_piece(a_target(0.6 * 4, 40'000)).workload;
  EXPECT_NEAR(offered_slice_load(experiment, 1, {}).value(), 0.6, 0.02);
}

TEST(ForeignLoad, LeavesOutTheFunctionsOfAnotherTrace) {
  const AzureFunctions rest = without(a_trace({1}, {2}), AzureFunctions{.minutes = 1, .rows = {{"b", {7}}}});
  ASSERT_EQ(rest.rows.size(), 1u);
  EXPECT_EQ(rest.rows[0].function, "a");
}

TEST(ForeignLoad, TakesOnlyTheTimesOfALlmTrace) {
  const std::string text =
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:17:00,4808,10\r\n"
      "\r\n"
      "2023-11-16 18:17:10,3180,8\r\n"
      "2023-11-16 18:17:40,110,27\r\n"
      "2023-11-16 18:19:40,110,27";
  // Three requests of 1.25 slice-seconds on 0.5 slices take 7.5 s instead of 40.
  const auto piece = piece_of_requests(text, a_target(0.5, 2, 1));
  ASSERT_TRUE(piece.ok());
  EXPECT_DOUBLE_EQ(trace_of(*piece).time_scale, 7.5 / 40);
  EXPECT_EQ(trace_of(*piece).rate_scale, 1);
  EXPECT_EQ(piece->workload.requests, 2u);
  const workload::AzureLlm rows = workload::read_azure_llm(piece->trace_text);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[2].at - rows.rows[0].at, Duration::s(40));
  EXPECT_TRUE(std::ranges::all_of(rows.rows, [](const auto& row) { return row.context_tokens == 1; }));
  EXPECT_EQ(piece_of_requests(text, a_target(0.5, 20, 1))->workload.requests, 3u);  // there are no more
  EXPECT_FALSE(piece_of_requests(text, a_target(0.5, 20, 4)).ok());
  EXPECT_FALSE(piece_of_requests("nonsense", a_target(0.5, 20)).ok());
}

}  // namespace
}  // namespace sluice::reproduce
