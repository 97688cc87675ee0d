// The scheduler's driver between a machine and a gateway that are made up.
#include "live/runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/scene.h"
#include "live/live_server.h"

namespace sluice::live {
namespace {

// Has everything loaded and finishes every batch at once.
class Machine final : public bus::Link {
 public:
  void deploy(ApplicationId, std::shared_ptr<const Application>) override {}
  void forget(ApplicationId) override {}
  void limit(const bus::TenantLimit& limit) override { limits.push_back(limit); }
  void send(Command& command) override {
    if (const auto* start = std::get_if<StartBatch>(&command.action)) {
      BatchFinished finished{.id = start->id, .measured = Duration::ms(1), .held = Duration::ms(1)};
      for (const BatchMember& member : start->members) finished.results.push_back({.id = member.invocation});
      happened.push_back(std::move(finished));
    }
    if (const auto* release = std::get_if<ReleaseObjects>(&command.action)) released.push_back(release->request);
  }
  void receive(Time, bus::Heard& out) override {
    for (Event& event : happened) out.events.push_back(std::move(event));
    happened.clear();
  }
  [[nodiscard]] Time due() const override { return happened.empty() ? Time::max() : Time(); }

  std::vector<Event> happened{InvokerJoined{
      .id = InvokerId(0), .epoch = 1, .capacity = {.vcpu = 4, .gpus = 1, .slices_per_gpu = 7}, .warm = true}};
  std::vector<RequestId> released;
  std::vector<bus::TenantLimit> limits;
};

class Waiters final : public bus::Gateway {
 public:
  std::optional<bus::AnswerTaken> answered(bus::Answered answered) override {
    answers.push_back(std::move(answered));
    return std::nullopt;
  }
  void settle() override {}
  void moved(bus::Arrival arrival) override { sent_back.push_back(arrival.request); }

  std::vector<bus::Answered> answers;
  std::vector<RequestId> sent_back;
};

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(waker_.start());
    const record::LogHeader header{.scheduler = "best-fit"};
    auto scheduler = record::make_scheduler(header);
    auto log = EventLog::open({.directory = folder_.path(), .epoch = 1}, header);
    ASSERT_TRUE(scheduler && log);
    runner_ = std::make_unique<Runner>(
        std::move(*scheduler), std::move(*log), arenas_, Runner::Machines{machine_, waker_},
        Runner::Listeners{
            .forgotten = [](ApplicationId) {}, .describe = [](Snapshot&) {}, .remark = [](const Remark&) {}},
        100);
    runner_->mailbox().post(Deploying{.application = core::application_of({core::stage("a")})});
    until([&] { return runner_->snapshot()->models.size() == 1; });
  }
  template <class Condition>
  void until(Condition condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i) {
      runner_->work();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(condition());
  }
  void offer(std::uint64_t id, ApplicationId application) {
    bus::Arrival arrival{.request = RequestId(id), .application = application};
    ASSERT_TRUE(runner_->offer({&arrival, 1}, waiters_));
  }
  [[nodiscard]] RequestState state_of(std::uint64_t id) { return runner_->history().find(RequestId(id))->state; }

  live_test::TemporaryFolder folder_;
  data::Arenas arenas_{{.all = Bytes::mb(1), .per_tenant = {}}};
  invoker::Waker waker_;
  Machine machine_;
  Waiters waiters_;
  std::unique_ptr<Runner> runner_;
};

TEST_F(RunnerTest, WhatStagesLeftIsReleasedWhenTheAnswerWasTaken) {
  const ApplicationId app = runner_->snapshot()->models.front().target->id;
  offer(1, app);
  until([&] { return waiters_.answers.size() == 1; });
  EXPECT_EQ(waiters_.answers.front().kind, bus::Answered::Kind::finished);
  for (int i = 0; i < 20; ++i) runner_->work();
  EXPECT_TRUE(machine_.released.empty());
  EXPECT_EQ(state_of(1), RequestState::running);
  runner_->taken({RequestId(1), {}});
  until([&] { return !machine_.released.empty(); });
  EXPECT_EQ(machine_.released, std::vector{RequestId(1)});
  EXPECT_EQ(state_of(1), RequestState::met);
}

TEST_F(RunnerTest, MachinesHearOfQuotas) {
  runner_->mailbox().post(Event(QuotaChanged{.tenant = "t", .vcpu = 3}));
  until([&] { return machine_.limits.size() == 1; });
  EXPECT_EQ(machine_.limits.front().tenant, "t");
  EXPECT_EQ(machine_.limits.front().vcpu, 3u);
}

TEST_F(RunnerTest, WhatItsGatewayCannotFetchHasFailed) {
  offer(1, runner_->snapshot()->models.front().target->id);
  until([&] { return waiters_.answers.size() == 1; });
  runner_->taken({RequestId(1), "gone"});
  until([&] { return state_of(1) == RequestState::failed; });
  until([&] { return runner_->snapshot()->models.front().stats.failed == 1; });
  EXPECT_EQ(runner_->snapshot()->models.front().stats.met, 0u);
}

TEST_F(RunnerTest, AnApplicationThatIsNotThereIsTheGatewaysToFind) {
  offer(1, ApplicationId(99));
  until([&] { return waiters_.sent_back.size() == 1; });
  const ApplicationId before = runner_->snapshot()->models.front().target->id;
  runner_->mailbox().post(Deploying{.application = core::application_of({core::stage("a")}), .version = 2});
  offer(2, before);
  until([&] { return waiters_.sent_back.size() == 2; });
  EXPECT_EQ(runner_->snapshot()->models.front().version, 2u);  // known before the request is sent back
}

}  // namespace
}  // namespace sluice::live
