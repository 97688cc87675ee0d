// A scheduler that reaches its machine through a wire that loses, doubles and reorders: every accepted request is
// answered exactly once, the books stay right, what must not run twice does not.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bus/machine.h"
#include "bus/remote_link.h"
#include "bus/station.h"
#include "core/scene.h"

namespace sluice::bus {
namespace {

constexpr Duration kStep = Duration::ms(5);

// Loads in 10 ms, runs a batch in 20.
class Worker : public Link {
 public:
  Worker() {
    happened_.push_back(
        InvokerJoined{.id = InvokerId(0), .epoch = 1, .capacity = {.vcpu = 4, .gpus = 1, .slices_per_gpu = 7}});
  }
  void deploy(ApplicationId, std::shared_ptr<const Application>) override {}
  void forget(ApplicationId) override {}
  void limit(const TenantLimit&) override {}
  void send(Command& command) override {
    if (const auto* load = std::get_if<LoadInstance>(&command.action)) {
      later(Duration::ms(10),
            InstanceLoaded{.invoker = load->invoker, .instance = load->instance, .level = load->level});
    } else if (const auto* evict = std::get_if<EvictInstance>(&command.action)) {
      later({}, InstanceUnloaded{.invoker = evict->invoker, .instance = evict->instance, .level = evict->level});
    } else if (const auto* start = std::get_if<StartBatch>(&command.action)) {
      BatchFinished finished{.id = start->id, .measured = Duration::ms(20), .held = Duration::ms(20)};
      for (const BatchMember& member : start->members) {
        ++runs[{member.request, member.stage}];
        finished.results.push_back({.id = member.invocation});
      }
      later(Duration::ms(20), finished);
    }
  }
  void receive(Time now, Heard& out) override {
    now_ = now;
    for (Event& event : happened_) out.events.push_back(std::move(event));
    happened_.clear();
    while (!due_.empty() && due_.begin()->first <= now) {
      out.events.push_back(std::move(due_.begin()->second));
      due_.erase(due_.begin());
    }
  }
  [[nodiscard]] Time due() const override { return due_.empty() ? Time::max() : due_.begin()->first; }

  std::map<std::pair<RequestId, StageId>, int> runs;

 private:
  void later(Duration wait, Event event) { due_.emplace(now_ + wait, std::move(event)); }
  std::vector<Event> happened_;
  std::multimap<Time, Event> due_;
  Time now_;
};

struct Stormy {
  explicit Stormy(std::uint64_t seed, const std::string& scheduler)
      : rng(seed), scheduler_(core::scheduler_named(scheduler)()) {
    std::vector<Stage> stages{core::stage("first"), core::stage("second", {0}, 1)};
    stages[1].idempotent = false;
    application = core::application_of(std::move(stages));
    application->objective.latency = Duration::s(20);
    link.deploy(ApplicationId(0), application);
    scheduler_.observe(ApplicationDeployed{ApplicationId(0), application}, now);
  }
  void arrive() {
    const RequestId id(next++);
    scheduler_.observe(
        RequestArrived{
            .id = id, .application = ApplicationId(0), .tenant = TenantId(0), .deadline = now + Duration::s(20)},
        now);
  }
  void step(bool storm) {
    now = now + kStep;
    if (storm) down.shake(rng);
    station.work(now);
    if (storm) up.shake(rng);
    Heard heard;
    link.receive(now, heard);
    for (const Event& event : heard.events) scheduler_.observe(event, now);
    Commands commands;
    scheduler_.decide(now, commands);
    for (Command& command : commands.list) carry(command);
    link.flush(now);
    ASSERT_EQ(scheduler_.broken_invariant(), "");
  }
  void carry(Command& command) {
    if (const auto* accept = std::get_if<Accept>(&command.action)) {
      accepted.insert(accept->request);
    } else if (const auto* reply = std::get_if<Reply>(&command.action)) {
      ++answers[reply->request];
      finished += reply->outcome == RequestOutcome::finished ? 1 : 0;
    } else if (const auto* wanted = std::get_if<MakePlans>(&command.action)) {
      scheduler_.observe(PlansMade{wanted->application, wanted->revision}, now);
    } else if (!std::holds_alternative<Reject>(command.action)) {
      link.send(command);
    }
  }

  Rng rng;
  std::shared_ptr<Application> application;
  core::Scheduler scheduler_;
  Wire up, down;
  End controller{down, up}, invoker{up, down};
  Worker machine;
  Station station{machine, invoker, {.epoch = 1}};
  RemoteLink link{controller, {}};
  Time now = Time::from_ns(1'000'000'000);
  std::uint64_t next = 1;
  std::set<RequestId> accepted;
  std::map<RequestId, int> answers;
  int finished = 0;
};

void weather(std::uint64_t seed, const std::string& scheduler) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << scheduler);
  Stormy world(seed, scheduler);
  for (int i = 0; i < 20; ++i) world.step(false);
  for (int i = 0; i < 300; ++i) {
    if (world.rng.chance(0.2)) world.arrive();
    world.step(i % 100 < 50);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (int i = 0; i < 6'000 && world.answers.size() < world.accepted.size(); ++i) world.step(false);
  ASSERT_FALSE(world.accepted.empty());
  ASSERT_GT(world.station.sessions(), 1u);
  for (const RequestId id : world.accepted) {
    ASSERT_EQ(world.answers[id], 1) << "request " << id.value();
    ASSERT_LE((world.machine.runs[{id, StageId(1)}]), 1) << "request " << id.value();
  }
  ASSERT_GT(world.finished, 0);
}

TEST(SchedulerOverTheBus, AnswersEverythingOnceWhateverTheWireDoes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const char* scheduler : {"fifo", "sluice"}) weather(seed, scheduler);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace sluice::bus
