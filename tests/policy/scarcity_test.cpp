// What things are worth while too much is asked for.
#include "policy/scarcity.h"

#include <gtest/gtest.h>

#include "policy/stand.h"

namespace sluice::policy {
namespace {

TEST(FillTable, SaysWhatIsLeftOfAStretch) {
  const FillTable table({4, 6, 2});
  EXPECT_NEAR(table.left_ms(1), 1, 1e-9);
  EXPECT_NEAR(table.left_ms(2), 0, 1e-9);
  EXPECT_NEAR(table.left_ms(3), 1, 1e-9);
  EXPECT_NEAR(table.left_ms(10), 0, 1e-9);  // 4 and 6
  EXPECT_NEAR(table.left_ms(4.5), 0.5, 1e-9);
  EXPECT_EQ(table.left_ms(1'000), 0);
  EXPECT_EQ(FillTable().left_ms(5), 0);
}

TEST(FillTable, LengthsThatDifferALotAreBounded) {
  const FillTable table({0.01, 10'000});
  EXPECT_NEAR(table.left_ms(25'000), 0, 100);
}

// One machine of one vCPU and one slice. A request takes 4 ms of the CPU, or 2 of the GPU; then 3 ms of the GPU.
Starts play(const std::vector<double>& arrivals, double objective_ms, const Parameters& parameters) {
  Stand stand("admission", {{{1, 1, 0, 4}, {1, 0, 1, 2}}, {{1, 0, 1, 3}}}, objective_ms, parameters);
  stand.invoker(0, 1, 1);
  Starts out;
  std::uint64_t id = 0;
  for (const double at : arrivals) {
    const Starts now = stand.at(at).arrive(++id).decide();
    out.insert(out.end(), now.begin(), now.end());
  }
  return out;
}

TEST(Scarcity, ALoneRequestTakesWhatIsCheapest) {
  EXPECT_EQ(play({0}, 100, {{"cost_weight", 0}}), Starts{"s0 of 1: (1,0,1) on 0"});  // ends first
}

// The GPU is what everybody needs: the CPU has the time.
TEST(Scarcity, SparesWhatOthersNeed) {
  std::vector<double> arrivals;
  for (int i = 0; i < 60; ++i) arrivals.push_back(i * 0.5);
  const Starts starts = play(arrivals, 60, {{"cost_weight", 0}});
  const auto on_gpu = std::ranges::count_if(
      starts, [](const std::string& s) { return s.starts_with("s0") && s.find("(1,0,1)") != std::string::npos; });
  const auto on_cpu = std::ranges::count_if(
      starts, [](const std::string& s) { return s.starts_with("s0") && s.find("(1,1,0)") != std::string::npos; });
  EXPECT_GE(on_cpu, 1);
  EXPECT_LE(on_gpu, 2);  // before rates are known
}

}  // namespace
}  // namespace sluice::policy
