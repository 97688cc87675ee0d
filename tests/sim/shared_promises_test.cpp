// Promises under overload: whoever comes while a batch that was promised to others has places left takes one, what is
// met does not fall with load, and every application gets its share.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim/observer.h"
#include "sim/world.h"

namespace sluice::sim {
namespace {

// Batches of eight take little more than one alone, as on GPUs.
Function batching(const std::string& name) {
  ProfileTable table;
  for (const auto& [batch, ms] : {std::pair(1, 10.0), {2, 11.0}, {4, 13.0}, {8, 17.0}}) {
    table.rows.push_back({.configuration = configuration(batch, 1, 1), .mean_ms = ms});
    table.rows.push_back({.configuration = configuration(batch, 1, 2), .mean_ms = ms * 0.6});
  }
  return {.name = name, .cpu = Body{}, .gpu = Body{}, .profile = std::move(table)};
}

Application chain(const std::string& name, std::size_t stages, double objective_ms) {
  Application out{.name = name};
  out.objective.latency = Duration::ms(objective_ms);
  for (std::uint32_t s = 0; s < stages; ++s) {
    out.functions.push_back(batching(name + static_cast<char>('a' + s)));
    Stage stage{.name = out.functions.back().name, .function = FunctionId(s)};
    if (s > 0) stage.after.push_back(StageId(s - 1));
    out.workflow.stages.push_back(std::move(stage));
  }
  return out;
}

Experiment world(std::vector<Application> applications, double rate, double sigma) {
  Experiment out{.name = "shared"};
  out.cluster.nodes = {{.count = 2, .vcpu = 16, .gpus = 1, .slices_per_gpu = 7}};
  out.applications = std::move(applications);
  out.workload = {.arrivals = Poisson{rate}, .requests = static_cast<std::uint64_t>(2 * rate), .warmup = 500};
  out.noise = Noise{.sigma = sigma};
  out.transfer = {.local_delay = Duration::us(100), .remote_delay = Duration::us(500)};
  out.scheduler_time = SchedulerTime::none;
  return out;
}

RunResult play(Experiment experiment, const std::map<std::string, double>& parameters = {},
               Observer* observer = nullptr) {
  experiment.parameters["admission"] = parameters;
  auto made = World::make(experiment, {.scheduler = "admission", .seed = 1, .observer = observer});
  EXPECT_TRUE(made.ok());
  RunResult out = (*made)->run();
  EXPECT_FALSE(out.violation) << out.violation->invariant;
  return out;
}

double goodput(const RunResult& result) {
  return static_cast<double>(result.met) / result.seconds;
}

TEST(SharedPromises, ServeSeveralTimesAsMuchAsPromisesOfOneEach) {
  const Experiment busy = world({chain("x", 2, 100)}, 2'400, 0);
  const RunResult shared = play(busy), each = play(busy, {{"batches", 0}});
  EXPECT_GT(goodput(shared), 3 * goodput(each));
  for (const RunResult* result : {&shared, &each})
    EXPECT_EQ(result->met + result->rejected, result->requests) << "accepted, and not in time";
}

TEST(SharedPromises, GoodputDoesNotFallWithLoad) {
  for (const double sigma : {0.0, 0.05}) {
    double peak = 0, last = 0;
    for (const double rate : {1'200, 2'400, 4'800, 9'600}) {
      const RunResult result = play(world({chain("x", 2, 100)}, rate, sigma));
      last = goodput(result);
      peak = std::max(peak, last);
      const std::uint64_t broken = result.requests - result.met - result.rejected;
      EXPECT_LE(broken, sigma > 0 ? result.met / 50 : 0) << rate;
    }
    EXPECT_GE(last, 0.97 * peak) << sigma;
  }
}

// By application: what was asked for and what was met.
class Shares final : public Observer {
 public:
  void request(const RequestRow& row) override {
    auto& [asked, met] = of_[row.application];
    ++asked;
    met += row.ending == Ending::met ? 1 : 0;
  }
  void action(const ActionRow&) override {}
  [[nodiscard]] double of(std::uint32_t application) const {
    const auto& [asked, met] = of_.at(application);
    return met / asked;
  }

 private:
  std::map<std::uint32_t, std::pair<double, double>> of_;
};

// Two stages in 100 ms beside four in 110: the short ones would find all the gaps.
TEST(SharedPromises, EveryApplicationGetsItsShare) {
  Shares shares;
  (void)play(world({chain("x", 2, 100), chain("y", 4, 110)}, 4'000, 0.05), {}, &shares);
  EXPECT_LT(shares.of(0), 0.9);
  EXPECT_GT(shares.of(1), 0.7 * shares.of(0)) << shares.of(1) << " beside " << shares.of(0);
}

// One of two branches runs; both are promised.
TEST(SharedPromises, ConditionsShutNobodyOut) {
  Application branches = chain("x", 3, 100);
  branches.workflow.stages[1].when = Condition{.kind = Condition::Kind::compare};
  branches.workflow.stages[2].after = {StageId(0)};
  branches.workflow.stages[2].when = Condition{.kind = Condition::Kind::otherwise};
  const RunResult busy = play(world({branches}, 4'000, 0)), calm = play(world({branches}, 1'000, 0));
  EXPECT_GT(goodput(busy), goodput(calm));
  EXPECT_EQ(busy.met + busy.rejected, busy.requests);
}

// Whoever is called once in a while has nobody to share batches with, and is let in nevertheless.
TEST(SharedPromises, RareApplicationsAreNotMeasuredByBusyOnes) {
  Experiment experiment = world({chain("x", 2, 100), chain("y", 2, 100)}, 4'000, 0.05);
  experiment.workload.mix = {{"x", 0.997}, {"y", 0.003}};
  Shares shares;
  (void)play(experiment, {}, &shares);
  EXPECT_GT(shares.of(1), 0.5 * shares.of(0)) << shares.of(1) << " beside " << shares.of(0);
}

// The functions of one application take three times what their profiles say now and then, on the GPUs; the other's runs
// on CPUs.
TEST(SharedPromises, AWrongProfileBreaksNoPromiseElsewhere) {
  Application wrong = chain("wrong", 2, 100), right = chain("right", 2, 100);
  for (Function& f : right.functions) {
    ProfileTable table;
    table.rows.push_back({.configuration = configuration(1, 2, 0), .mean_ms = 10});
    f.profile = std::move(table);
  }
  for (Function& f : wrong.functions) {
    for (ProfileRow& row : std::get<ProfileTable>(f.profile).rows) row.configuration.vcpu = 0;
  }
  Experiment experiment = world({wrong, right}, 1'200, 0.3);
  experiment.noise->slow = {
      {Duration{}, 1}, {Duration::ms(800), 3}, {Duration::ms(1'300), 1}, {Duration::ms(1'800), 3}};
  experiment.noise->functions = {"wronga", "wrongb"};
  std::map<std::uint32_t, std::uint64_t> kept, broken;
  struct Watch final : Observer {
    Watch(std::map<std::uint32_t, std::uint64_t>& k, std::map<std::uint32_t, std::uint64_t>& b) : kept(k), broken(b) {}
    void request(const RequestRow& row) override {
      if (row.ending != Ending::rejected) ++(row.ending == Ending::met ? kept : broken)[row.application];
    }
    void action(const ActionRow&) override {}
    std::map<std::uint32_t, std::uint64_t>&kept, &broken;
  } watch(kept, broken);
  (void)play(experiment, {}, &watch);
  EXPECT_GT(kept[0], 100u);
  EXPECT_GT(broken[0], 0u);
  EXPECT_GT(kept[1], 100u);
  EXPECT_EQ(broken[1], 0u);
}

}  // namespace
}  // namespace sluice::sim
