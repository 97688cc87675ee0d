// A moment that concerns very many requests, items or batches: each of these takes a second or less, and minutes where
// work grows with their square. Driven without Scene, which looks at everything after every event.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

constexpr std::uint64_t kMany = 50'000;
constexpr std::uint32_t kMachines = 100;

// f takes a vCPU, g and h also a slice.
std::shared_ptr<Application> slices_for_g(std::vector<Stage> stages) {
  auto out = application_of(std::move(stages));
  ProfileTable table;
  table.rows.push_back({.configuration = configuration(1, 1, 0), .mean_ms = 10, .sd_ms = 0.1});
  out->functions[0].profile = table;
  return out;
}

class Crowd {
 public:
  explicit Crowd(std::vector<Stage> stages) : scheduler_(scheduler_named("fifo")()) {
    see(ApplicationDeployed{ApplicationId(0), slices_for_g(std::move(stages))});
  }
  // With vCPUs for everybody, and no slices.
  void join(std::uint64_t epoch = 1) {
    for (std::uint32_t i = 0; i < kMachines; ++i) {
      const NodeGroup capacity{.vcpu = static_cast<std::uint32_t>(kMany / kMachines)};
      see(InvokerJoined{.id = InvokerId(i), .epoch = epoch, .capacity = capacity, .warm = true});
    }
  }
  void lose_all() {
    for (std::uint32_t i = 0; i < kMachines; ++i) see(InvokerLost{InvokerId(i), 1});
  }
  void arrive(std::uint64_t requests, std::vector<FanOut> fan_outs = {}) {
    for (std::uint64_t i = 1; i <= requests; ++i) {
      see(RequestArrived{.id = RequestId(i),
                         .application = ApplicationId(0),
                         .deadline = Time() + Duration::s(1'000'000),
                         .fan_outs = fan_outs});
    }
    decide();
  }
  void see(const Event& event) { scheduler_.observe(event, Time()); }
  void decide() {
    Commands commands;
    scheduler_.decide(Time(), commands);
    for (Command& command : commands.list) {
      if (auto* start = std::get_if<StartBatch>(&command.action)) started.push_back(std::move(*start));
      cancelled += std::holds_alternative<CancelBatch>(command.action) ? 1u : 0u;
    }
  }
  void finish_all() {
    for (const StartBatch& batch : std::exchange(started, {}))
      see(BatchFinished{.id = batch.id, .results = {{.id = batch.members.front().invocation}}});
    decide();
  }

  std::vector<StartBatch> started;
  std::uint64_t cancelled = 0;

 private:
  Scheduler scheduler_;
};

TEST(Linear, BatchesOfOneRequestThatIsCancelled) {
  Stage items = stage("items", {});
  items.foreach = Foreach{};
  Crowd crowd({items});
  crowd.join();
  crowd.arrive(1, {{StageId(0), static_cast<std::uint32_t>(kMany)}});
  EXPECT_EQ(crowd.started.size(), kMany);
  crowd.see(RequestCancelled{RequestId(1)});
  crowd.decide();
  EXPECT_EQ(crowd.cancelled, kMany);
}

// The machines that are lost have what the first stage left of all of them, and all wait for the second one.
TEST(Linear, RequestsThatBeginAgain) {
  Crowd crowd({stage("a"), stage("b", {0}, 1)});
  crowd.join();
  crowd.arrive(kMany);
  EXPECT_EQ(crowd.started.size(), kMany);
  crowd.finish_all();
  EXPECT_TRUE(crowd.started.empty());
  crowd.lose_all();
  crowd.join(2);
  crowd.decide();
  EXPECT_EQ(crowd.started.size(), kMany);
}

// Likewise while all of them run.
TEST(Linear, BatchesOfMachinesThatAreLost) {
  Crowd crowd({stage("a")});
  crowd.join();
  crowd.arrive(kMany);
  crowd.started.clear();
  crowd.lose_all();
  crowd.join(2);
  crowd.decide();
  EXPECT_EQ(crowd.started.size(), kMany);
}

TEST(Linear, RequestsThatAreCancelledAtTheInstantAtWhichTheyCome) {
  Crowd crowd({stage("a")});
  crowd.join();
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    crowd.see(RequestArrived{.id = RequestId(i), .application = ApplicationId(0), .deadline = Time() + Duration::s(1)});
  }
  for (std::uint64_t i = 1; i <= kMany; ++i) crowd.see(RequestCancelled{RequestId(i)});
  crowd.decide();
  EXPECT_TRUE(crowd.started.empty());
}

}  // namespace
}  // namespace sluice::core
