#include "reproduce/azure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "reproduce/azure_rows.h"
#include "reproduce/foreign_load.h"
#include "reproduce/mig_applications.h"
#include "support/places.h"

namespace sluice::reproduce {
namespace {

Experiment evaluation(std::uint64_t requests) {
  const spec::Loaded loaded = spec::load("examples/esg/moderate_heavy.yaml");
  Experiment out = std::get<Experiment>(*loaded.document);
  out.workload.requests = requests;
  out.workload.warmup = requests / 10;
  return out;
}

// Small files of all kinds.
Result<std::string> small_file(const std::string& path) {
  if (path.ends_with("100/invocations.csv"))
    return std::string("HashOwner,HashApp,HashFunction,Trigger,7\no,p,a,t,9\n");
  if (path.ends_with("500/invocations.csv")) {
    return std::string("HashOwner,HashApp,HashFunction,Trigger,7\no,p,a,t,9\no,p,b,t,9\n");
  }
  if (path.ends_with("AzureLLMInferenceTrace_code.csv")) {
    return std::string("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1,1\n");
  }
  if (path.find("prof_data/") != std::string::npos) {
    return std::string("Mig instance,Batch size,Workload Number,Throughput,Latency\n1,1,1,100,0.01\n2,8,1,400,0.02\n");
  }
  return Error{ErrorCode::not_found, str("there is no file ", path)};
}

TEST(MigApplications, AreChainsOfMeasuredModels) {
  const auto applications = mig_applications("prof_data", 0.05, small_file);
  ASSERT_TRUE(applications.ok()) << applications.error().message;
  ASSERT_EQ(applications->size(), 3u);
  for (std::size_t a = 0; a < 3; ++a) {
    const Application& application = (*applications)[a];
    EXPECT_EQ(application.name, mig_chains()[a].application);
    ASSERT_EQ(application.workflow.size(), 3u);
    for (std::size_t s = 0; s < 3; ++s) {
      const Stage& stage = application.workflow.stages[s];
      EXPECT_EQ(stage.name, mig_chains()[a].models[s]);
      EXPECT_EQ(stage.after.size(), s == 0 ? 0u : 1u);
      const auto& rows = std::get<ProfileTable>(application.function(stage.function).profile).rows;
      EXPECT_EQ(rows.front().mean_ms, 10);
      EXPECT_DOUBLE_EQ(rows.back().sd_ms, 1);
    }
  }
}

TEST(MigApplications, SayWhichFileIsWrong) {
  const auto broken = mig_applications("data", 0.05, [](const std::string& path) -> Result<std::string> {
    if (path == "data/resnet50.csv") return std::string("what?");
    return small_file(str("prof_data/", path));
  });
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find("data: resnet50.csv:1:1: error: the header is 'what?'"), std::string::npos)
      << broken.error().message;
}

TEST(AzureData, LeavesOutOfTheLargeSampleWhatIsInTheSmall) {
  const auto data = read_azure_data("data", small_file);
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_EQ(data->sample_500.rows.size(), 1u);
  EXPECT_EQ(data->sample_500.rows[0].function, "b");
  EXPECT_EQ(data->sample_100.rows.size(), 1u);
}

TEST(AzureData, SaysWhatIsMissing) {
  const auto data = read_azure_data("nowhere");
  ASSERT_FALSE(data.ok());
  EXPECT_NE(data.error().message.find("nowhere/azure-functions-2019/100/invocations.csv"), std::string::npos);
  EXPECT_NE(data.error().message.find("must hold azure-functions-2019, azure-llm-2023 and a100-mig-parvagpu"),
            std::string::npos);
}

TEST(AzureCells, HaveEveryExperimentObjectiveAndLoad) {
  const auto data = read_azure_data("data", small_file);
  Experiment wanted = evaluation(10);
  wanted.workload.warmup = 1;
  const auto cells = azure_cells(wanted, *data, 2);
  ASSERT_TRUE(cells.ok()) << cells.error().message;
  ASSERT_EQ(cells->size(), 4u * 3 * 3 * 2);
  EXPECT_EQ(cells->front().experiment, "azure-100");
  EXPECT_EQ(cells->front().setting, "strict-60%");
  EXPECT_EQ(cells->front().set_up->slo_scale, 0.8);
  EXPECT_EQ((*cells)[1].seed, 2u);
  const AzureCell& last = cells->back();
  EXPECT_EQ(last.experiment, "a100-mig");
  EXPECT_EQ(last.setting, "relaxed-100%");
  EXPECT_DOUBLE_EQ(*last.set_up->slo_scale, 3);
  // 112 slices, 30 ms of each request.
  EXPECT_DOUBLE_EQ(std::get<Poisson>(last.set_up->workload.arrivals).rate, 112 / 0.03);
}

// With a search of Aquatope's that takes no time.
Player a_player() {
  return Player(plain_means(), {{"initial", 2}, {"rounds", 0}});
}

TEST(AzureRows, CompareTheSchedulersInOneExperiment) {
  const auto data = read_azure_data("data", small_file);
  Experiment wanted = evaluation(200);
  Player player = a_player();
  const auto rows = azure_rows("a100-mig", *data, wanted, 2, player);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  std::set<std::string> schedulers, settings;
  for (const Row& row : *rows) {
    EXPECT_EQ(row.experiment, "a100-mig");
    schedulers.insert(row.scheduler);
    settings.insert(row.setting);
  }
  EXPECT_EQ(settings.size(), 9u);
  EXPECT_EQ(schedulers, (std::set<std::string>{"sluice", "sluice-hits", "esg", "esg-tuned", "esg-thrifty", "infless",
                                               "fast-gshare", "orion", "aquatope", "fifo"}));
  const auto of = [&](std::string_view setting, std::string_view metric) {
    const auto found = std::ranges::find_if(*rows, [&](const Row& row) {
      return row.scheduler == "fifo" && row.setting == setting && row.metric == metric;
    });
    return found == rows->end() ? std::nullopt : found->ours;
  };
  EXPECT_GT(of("relaxed-60%", "slo_hit_rate").value(), 0.9);
  EXPECT_LT(of("relaxed-60%", "p95_ms").value(), 90);
  EXPECT_TRUE(of("relaxed-60%", "cost_per_met_request").has_value());
  EXPECT_TRUE(of("relaxed-60%", "slo_hit_rate_worst_application").has_value());
}

TEST(AzureRows, PlayTheTraceOfTheirStream) {
  const auto data = read_azure_data("data", small_file);
  Player player = a_player();
  const auto rows = azure_rows("azure-100", *data, evaluation(40), 1, player);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->front().experiment, "azure-100");
  EXPECT_EQ(rows->front().setting, "strict-60%");
}

TEST(AzureRows, AreSweepsByTheNameOfTheirExperiment) {
  EXPECT_TRUE(is_azure_sweep("azure") && is_azure_sweep("azure-llm") && is_azure_sweep("a100-mig"));
  EXPECT_FALSE(is_azure_sweep("arrivals"));
}

TEST(AzureCells, OfferTheLoadTheyAreNamedFor) {
  const auto data = read_azure_data(test::in_source("examples/traces"));
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->sample_100.rows.size(), 40u);
  EXPECT_EQ(data->sample_500.rows.size(), 60u);
  const auto cells = azure_cells(evaluation(8'000), *data, 2);
  ASSERT_TRUE(cells.ok()) << cells.error().message;
  for (const AzureCell& cell : *cells) {
    const double wanted = cell.setting.ends_with("-100%") ? 1 : cell.setting.ends_with("-80%") ? 0.8 : 0.6;
    const auto load = offered_slice_load(*cell.set_up, cell.seed, *cell.trace_text);
    ASSERT_TRUE(load.ok()) << load.error().message;
    EXPECT_NEAR(*load / wanted, 1, 0.03) << cell.set_up->name << ", seed " << cell.seed;
    const double most = cell.experiment == "azure-llm" ? 1'000 : 8'000;  // 3,000 rows, 2,000 of them warm-up
    EXPECT_NEAR(static_cast<double>(cell.set_up->workload.requests), most, 2'700) << cell.set_up->name;
  }
}

}  // namespace
}  // namespace sluice::reproduce
