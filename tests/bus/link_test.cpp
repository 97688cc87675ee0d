// Two ends of a remote link over a wire that loses nothing, loses something, or is cut.
#include <gtest/gtest.h>

#include "bus/machine.h"
#include "bus/remote_link.h"
#include "bus/station.h"
#include "domain/limits.h"

namespace sluice::bus {
namespace {

constexpr Duration kStep = Duration::ms(20);

struct World {
  Wire up, down;
  End controller{down, up}, invoker{up, down};
  Machine machine;
  Station station{machine, invoker, {.epoch = 1}};
  RemoteLink link{controller, {}};
  Time now = Time::from_ns(1'000'000'000);
  std::vector<Event> heard;
  std::uint64_t next_command = 0;
  bool cut = false;  // nothing gets through to the scheduler

  void step() {
    now = now + kStep;
    station.work(now);
    if (cut) up.drop_all();
    Heard out;
    link.receive(now, out);
    for (Event& event : out.events) heard.push_back(std::move(event));
    link.flush(now);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  CommandId start(std::uint64_t batch) {
    Command command{
        .id = CommandId(next_command++),
        .action = StartBatch{.id = BatchId(batch), .invoker = InvokerId(0), .latest = now + Duration::s(1)}};
    const CommandId id = command.id;
    link.send(command);
    return id;
  }
  template <class Kind>
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(heard.begin(), heard.end(), [](const Event& e) { return std::holds_alternative<Kind>(e); }));
  }
  [[nodiscard]] bool finished(std::uint64_t batch) const {
    return std::any_of(heard.begin(), heard.end(), [&](const Event& e) {
      const auto* f = std::get_if<BatchFinished>(&e);
      return f != nullptr && f->id == BatchId(batch);
    });
  }
};

TEST(RemoteLink, CarriesCommandsOutInOrderAndBringsEventsBack) {
  World world;
  world.steps(2);
  EXPECT_EQ(world.count<InvokerJoined>(), 1u);
  world.link.deploy(ApplicationId(0), std::make_shared<const Application>());
  std::vector<CommandId> sent;
  for (std::uint64_t b = 0; b < 1000; ++b) sent.push_back(world.start(b));
  world.steps(2);
  EXPECT_EQ(world.machine.carried_out, sent);
  EXPECT_EQ(world.machine.deployed, std::vector{ApplicationId(0)});
  world.machine.finish_all();
  world.steps(2);
  EXPECT_EQ(world.count<BatchFinished>(), 1000u);
  EXPECT_EQ(world.station.sessions(), 1u);
}

// Members of a request that is spread over many machines name them all.
TEST(RemoteLink, CommandsThatDoNotFitIntoOneFrameTogetherGoInSeveral) {
  World world;
  world.steps(2);
  BatchMember member;
  member.places.resize(limits::places_max);
  for (std::uint64_t b = 0; b < 5; ++b) {
    Command command{.id = CommandId(b),
                    .action = StartBatch{.id = BatchId(b),
                                         .invoker = InvokerId(0),
                                         .members = std::vector<BatchMember>(limits::batch_max / 2, member),
                                         .latest = world.now + Duration::s(1)}};
    world.link.send(command);
  }
  world.steps(2);
  EXPECT_EQ(world.machine.running.size(), 5u);
  EXPECT_EQ(world.station.sessions(), 1u);
}

TEST(RemoteLink, SendsNothingToAnInvokerThatHasNotJoined) {
  World world;
  world.start(1);
  world.steps(3);
  EXPECT_TRUE(world.machine.carried_out.empty());
}

TEST(RemoteLink, JoinsAgainAfterAGapWithoutLosingWhatRuns) {
  World world;
  world.steps(2);
  world.start(1);
  world.steps(2);
  world.start(2);
  world.link.flush(world.now);
  world.down.drop_all();  // batch 2 never arrives
  world.start(3);
  world.steps(4);
  EXPECT_EQ(world.station.sessions(), 2u);
  EXPECT_EQ(world.count<InvokerJoined>(), 2u);
  EXPECT_EQ(world.count<InvokerLost>(), 0u);
  EXPECT_EQ(world.machine.carried_out, std::vector{CommandId(0)});  // 3 was of the old session
  world.machine.finish_all();
  world.steps(2);
  EXPECT_TRUE(world.finished(1));
  world.start(4);
  world.steps(2);
  EXPECT_TRUE(world.machine.running.contains(BatchId(4)));
}

// A session may begin with many events before it says what the machine is: a batch that is started in between would be
// missing there, and be started again.
TEST(RemoteLink, SendsNothingToAnInvokerThatHasNotJoinedInThisSession) {
  World world;
  world.steps(2);
  for (std::uint64_t b = 0; b < 300; ++b) world.start(b);
  world.steps(2);
  world.machine.finish_all();
  world.station.work(world.now);
  world.up.drop_all();
  while (world.station.sessions() == 1) {
    world.now = world.now + kStep;
    world.station.work(world.now);
    if (world.station.sessions() > 1) break;
    Heard out;
    world.link.receive(world.now, out);
    world.link.flush(world.now);
  }
  ASSERT_GT(world.up.size(), 1u);
  world.up.keep(1);
  Heard out;
  world.link.receive(world.now, out);
  ASSERT_FALSE(out.events.empty());
  world.start(999);
  world.link.flush(world.now);
  world.station.work(world.now);
  EXPECT_FALSE(world.machine.running.contains(BatchId(999)));
}

TEST(RemoteLink, SaysWhatRunsIsLoadedAndHeldWhenItJoinsAgain) {
  World world;
  world.steps(2);
  const auto send = [&](Action action) {
    Command command{.id = CommandId(world.next_command++), .action = std::move(action)};
    world.link.send(command);
  };
  const InvokerId at(0);
  send(LoadInstance{.invoker = at, .instance = InstanceId(5), .level = Level::host});
  send(LoadInstance{.invoker = at, .instance = InstanceId(6), .level = Level::device});
  for (const std::uint64_t b : {1u, 2u}) {
    send(StartBatch{.id = BatchId(b),
                    .invoker = at,
                    .instance = InstanceId(5),
                    .members = {{.invocation = InvocationId(b), .request = RequestId(70 + b)}}});
  }
  world.steps(2);
  world.machine.events.push_back(InstanceLoaded{.invoker = at, .instance = InstanceId(5), .level = Level::host});
  world.machine.events.push_back(BatchFinished{.id = BatchId(1), .results = {{.id = InvocationId(1)}}});
  world.steps(2);
  world.start(9);
  world.link.flush(world.now);
  world.down.drop_all();
  world.steps(20);
  ASSERT_EQ(world.count<InvokerJoined>(), 2u);
  const auto last = std::find_if(world.heard.rbegin(), world.heard.rend(),
                                 [](const Event& e) { return std::holds_alternative<InvokerJoined>(e); });
  const auto& joined = std::get<InvokerJoined>(*last);
  EXPECT_EQ(joined.session, 2u);
  ASSERT_EQ(joined.instances.size(), 2u);
  EXPECT_EQ(joined.instances[0].level, Level::host);
  EXPECT_EQ(joined.instances[1].moving_to, Level::device);
  ASSERT_EQ(joined.running.size(), 1u);
  EXPECT_EQ(joined.running[0].id, BatchId(2));
  EXPECT_EQ(joined.objects, (std::vector{RequestId(71), RequestId(72)}));  // of the running one: what it reads
}

TEST(RemoteLink, NoticesThatTheLastFrameWasLost) {
  World world;
  world.steps(2);
  world.start(1);
  world.link.flush(world.now);
  world.down.drop_all();
  world.steps(20);  // heartbeats say that something was sent
  EXPECT_EQ(world.station.sessions(), 2u);
}

TEST(RemoteLink, DeliversAnEventWhoseFrameWasLost) {
  World world;
  world.steps(2);
  world.start(1);
  world.steps(2);
  world.machine.finish_all();
  world.now = world.now + kStep;
  world.station.work(world.now);
  world.up.drop_all();
  world.steps(20);
  EXPECT_TRUE(world.finished(1));
}

TEST(RemoteLink, LosesAStationThatIsSilent) {
  World world;
  world.steps(2);
  world.cut = true;
  world.steps(100);
  world.cut = false;
  EXPECT_EQ(world.count<InvokerLost>(), 1u);
  world.steps(20);
  EXPECT_EQ(world.count<InvokerJoined>(), 2u);
  world.start(7);
  world.steps(2);
  EXPECT_TRUE(world.machine.running.contains(BatchId(7)));
}

TEST(RemoteLink, TellsASchedulerThatKnowsNothingWhatTheMachineIs) {
  World world;
  world.link.deploy(ApplicationId(3), std::make_shared<const Application>());
  world.steps(2);
  RemoteLink next(world.controller, {});
  next.deploy(ApplicationId(3), std::make_shared<const Application>());
  next.limit({.tenant = "t", .vcpu = 4});
  next.limit({.tenant = "t", .vcpu = 2});
  std::vector<Event> heard;
  for (int i = 0; i < 20; ++i) {
    world.now = world.now + kStep;
    world.station.work(world.now);
    Heard out;
    next.receive(world.now, out);
    for (Event& event : out.events) heard.push_back(std::move(event));
    next.flush(world.now);
  }
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<InvokerJoined>(heard.front()));
  EXPECT_EQ(world.machine.deployed, std::vector{ApplicationId(3)});  // once
  ASSERT_EQ(world.machine.limits.size(), 1u);                        // as it is now
  EXPECT_EQ(world.machine.limits.front().vcpu, 2u);
}

TEST(RemoteLink, MovesWindowsToTheClockOfTheMachine) {
  World world;
  world.steps(2);
  world.start(1);
  world.link.flush(world.now);
  const Duration ahead = Duration::s(3600);
  world.now = world.now + ahead;
  world.station.work(world.now);
  const Time latest = world.machine.running.at(BatchId(1)).latest;
  EXPECT_EQ(latest - world.now, Duration::s(1));
}

TEST(RemoteLink, TakesRubbishForALostFrame) {
  World world;
  world.steps(2);
  world.down.put("rubbish");
  world.up.put(std::string(1000, '\xff'));
  world.up.put("");
  world.start(1);
  world.steps(2);
  EXPECT_EQ(world.machine.carried_out.size(), 1u);
  EXPECT_EQ(world.station.sessions(), 1u);
}

TEST(Frame, SaysWhichVersionsDoNotMatch) {
  auto bytes = encode(Frame<ToInvoker>{}).value();
  bytes[0] = 99;
  const auto frame = decode_to_invoker(bytes);
  ASSERT_FALSE(frame.ok());
  EXPECT_NE(frame.error().message.find("version 99"), std::string::npos);
}

// Whatever the wire does: every command is carried out at most once and in order, everything that happened is heard of
// at least once, and when the storm is over the link works again.
TEST(RemoteLink, SurvivesAnyStorm) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    World world;
    Rng rng(seed);
    std::uint64_t batch = 0;
    std::vector<std::uint64_t> ran;
    for (int i = 0; i < 200; ++i) {
      for (std::uint64_t k = rng.below(4); k > 0; --k) world.start(++batch);
      world.link.flush(world.now);
      world.down.shake(rng);
      world.station.work(world.now);
      if (rng.below(3) == 0) {
        for (const auto& [id, start] : world.machine.running) ran.push_back(id.value());
        world.machine.finish_all();
      }
      world.up.shake(rng);
      world.step();
    }
    ASSERT_GT(world.station.sessions(), 1u) << "seed " << seed;
    world.steps(100);
    const auto& done = world.machine.carried_out;
    ASSERT_TRUE(std::adjacent_find(done.begin(), done.end(), std::greater_equal<>()) == done.end()) << "seed " << seed;
    for (const std::uint64_t b : ran) ASSERT_TRUE(world.finished(b)) << "seed " << seed << ", batch " << b;
    world.start(++batch);
    world.steps(3);
    ASSERT_TRUE(world.machine.running.contains(BatchId(batch))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::bus
