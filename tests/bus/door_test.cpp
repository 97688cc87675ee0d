// A gateway and a scheduler with a wire between them that loses nothing, loses something, or is cut.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "bus/machine.h"
#include "bus/porter.h"
#include "bus/remote_door.h"

namespace sluice::bus {
namespace {

constexpr Duration kStep = Duration::ms(20);

// The scheduler: runs what it is offered, and says when it is told to.
class Hall final : public Door {
 public:
  std::map<RequestId, int> began;  // how often
  std::map<RequestId, Gateway*> inside;
  std::map<RequestId, AnswerTaken> over;  // taken
  std::set<RequestId> cancelled;
  std::size_t room = 1'000;

  bool offer(std::span<Arrival> arrivals, Gateway& from) override {
    if (inside.size() + arrivals.size() > room) return false;
    for (const Arrival& arrival : arrivals) {
      ++began[arrival.request];
      inside[arrival.request] = &from;
    }
    return true;
  }
  void cancel(RequestId request) override { cancelled.insert(request); }
  void taken(AnswerTaken taken) override {
    const RequestId id = taken.request;
    EXPECT_TRUE(over.emplace(id, std::move(taken)).second) << "taken twice";
  }
  void finish(RequestId id, Answered::Kind kind = Answered::Kind::finished) {
    auto node = inside.extract(id);
    ASSERT_FALSE(node.empty());
    if (auto now_taken = node.mapped()->answered({.request = id, .kind = kind})) taken(std::move(*now_taken));
  }
};

// The gateway's callers.
class Callers final : public Gateway {
 public:
  std::map<RequestId, std::vector<Answered::Kind>> told;
  std::vector<Arrival> moved_on;
  std::set<RequestId> fetching;
  bool at_once = true;
  int settled = 0;

  std::optional<AnswerTaken> answered(Answered answered) override {
    told[answered.request].push_back(answered.kind);
    if (at_once) return AnswerTaken{answered.request, {}};
    fetching.insert(answered.request);
    return std::nullopt;
  }
  void settle() override { ++settled; }
  void moved(Arrival arrival) override { moved_on.push_back(std::move(arrival)); }
};

struct World {
  Wire up, down;
  End inner{down, up}, outer{up, down};
  Hall hall;
  Callers callers;
  Porter porter{hall, inner, {}};
  std::unique_ptr<RemoteDoor> door = std::make_unique<RemoteDoor>(outer, RemoteDoor::Options{.epoch = 1});
  Time now = Time::from_ns(1'000'000'000);
  std::uint64_t next = 0;

  void step() {
    now = now + kStep;
    door->work(now);
    porter.work(now);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  RequestId offer() {
    Arrival arrival{.request = RequestId(next++), .bytes = Bytes(7)};
    const RequestId id = arrival.request;
    EXPECT_TRUE(door->offer({&arrival, 1}, callers));
    return id;
  }
  [[nodiscard]] bool told_once(RequestId id, Answered::Kind kind) { return callers.told[id] == std::vector{kind}; }
};

TEST(RemoteDoor, BringsRequestsInAndAnswersBack) {
  World world;
  std::vector<RequestId> ids;
  for (int i = 0; i < 600; ++i) ids.push_back(world.offer());  // more than a frame has
  world.steps(2);
  ASSERT_EQ(world.hall.inside.size(), 600u);
  for (const RequestId id : ids) world.hall.finish(id);
  EXPECT_TRUE(world.hall.over.empty());  // nobody has taken them yet
  world.steps(3);
  for (const RequestId id : ids) EXPECT_TRUE(world.told_once(id, Answered::Kind::finished));
  EXPECT_EQ(world.hall.over.size(), 600u);
  EXPECT_EQ(world.callers.settled, 600);
  EXPECT_EQ(world.door->sessions(), 1u);
}

TEST(RemoteDoor, AnAnswerThatIsFetchedLaterIsTakenLater) {
  World world;
  world.callers.at_once = false;
  const RequestId id = world.offer();
  world.steps(2);
  world.hall.finish(id);
  world.steps(2);
  EXPECT_TRUE(world.told_once(id, Answered::Kind::finished));
  // A gap meanwhile: the answer comes again, which does not mean that it was fetched.
  world.offer();
  world.door->work(world.now);
  world.up.drop_all();
  world.steps(12);
  EXPECT_GT(world.door->sessions(), 1u);
  EXPECT_TRUE(world.hall.over.empty());
  world.door->taken({id, "gone"});
  world.steps(2);
  ASSERT_EQ(world.hall.over.size(), 1u);
  EXPECT_EQ(world.hall.over.at(id).error, "gone");
  EXPECT_TRUE(world.told_once(id, Answered::Kind::finished));
}

TEST(RemoteDoor, AGapLosesNothingAndBeginsNothingTwice) {
  World world;
  world.steps(2);
  const RequestId first = world.offer();
  world.steps(2);
  const RequestId second = world.offer();
  world.door->work(world.now);
  world.up.drop_all();
  const RequestId third = world.offer();
  world.steps(12);
  EXPECT_EQ(world.door->sessions(), 2u);
  for (const RequestId id : {first, second, third}) {
    EXPECT_EQ(world.hall.began[id], 1);
    world.hall.finish(id);
  }
  world.down.drop_all();
  world.steps(12);
  for (const RequestId id : {first, second, third}) EXPECT_TRUE(world.told_once(id, Answered::Kind::finished));
  EXPECT_EQ(world.hall.over.size(), 3u);
}

TEST(RemoteDoor, AFullSchedulerSaysNo) {
  World world;
  world.hall.room = 1;
  const RequestId first = world.offer(), second = world.offer();
  world.steps(3);
  EXPECT_EQ(world.hall.inside.count(first), 1u);
  EXPECT_TRUE(world.told_once(second, Answered::Kind::rejected));
}

TEST(RemoteDoor, KeepsNoMoreThanItMay) {
  Wire up, down;
  End outer(up, down);
  Callers callers;
  RemoteDoor door(outer, {.waiting_max = 2});
  for (std::uint64_t i = 0; i < 3; ++i) {
    Arrival arrival{.request = RequestId(i), .error = "as it was"};
    EXPECT_EQ(door.offer({&arrival, 1}, callers), i < 2);
    EXPECT_EQ(arrival.error.empty(), i < 2);
  }
}

TEST(RemoteDoor, CancelsAndMovesOn) {
  World world;
  const RequestId cancelled = world.offer(), moved = world.offer();
  world.steps(2);
  world.door->cancel(cancelled);
  world.steps(1);
  EXPECT_EQ(world.hall.cancelled, std::set{cancelled});
  world.hall.finish(cancelled, Answered::Kind::cancelled);
  auto node = world.hall.inside.extract(moved);
  node.mapped()->moved({.request = moved, .bytes = Bytes(7)});
  world.steps(2);
  EXPECT_TRUE(world.told_once(cancelled, Answered::Kind::cancelled));
  ASSERT_EQ(world.callers.moved_on.size(), 1u);
  EXPECT_TRUE(world.door->offer({&world.callers.moved_on.front(), 1}, world.callers));
  world.steps(2);
  EXPECT_EQ(world.hall.began[moved], 2);
  world.hall.finish(moved);
  world.steps(2);
  EXPECT_TRUE(world.told_once(moved, Answered::Kind::finished));
}

TEST(RemoteDoor, NobodyWaitsForAGatewayThatIsGone) {
  World world;
  const RequestId runs = world.offer(), done = world.offer();
  world.steps(2);
  world.hall.finish(done);
  for (int i = 0; i < 100; ++i) {  // its answers reach nobody
    world.now = world.now + kStep;
    world.porter.work(world.now);
    world.down.drop_all();
  }
  EXPECT_TRUE(world.porter.lost());
  EXPECT_EQ(world.hall.cancelled, std::set{runs});
  EXPECT_EQ(world.hall.over.size(), 1u);  // what it left may go
  world.hall.finish(runs, Answered::Kind::cancelled);
  world.steps(12);  // it was only away: it hears how its requests ended
  EXPECT_FALSE(world.porter.lost());
  EXPECT_TRUE(world.told_once(runs, Answered::Kind::cancelled));
  EXPECT_TRUE(world.told_once(done, Answered::Kind::failed));
  EXPECT_EQ(world.hall.began[runs], 1);
}

TEST(RemoteDoor, AGatewayThatStartsAnewWaitsForNothingOfItsEarlierLife) {
  World world;
  const RequestId before = world.offer();
  world.steps(2);
  world.door = std::make_unique<RemoteDoor>(world.outer, RemoteDoor::Options{.epoch = 2});
  const RequestId after = world.offer();
  world.steps(2);
  EXPECT_EQ(world.hall.cancelled, std::set{before});
  world.hall.finish(after);
  world.steps(2);
  EXPECT_TRUE(world.told_once(after, Answered::Kind::finished));
  EXPECT_TRUE(world.callers.told[before].empty());
}

// Frames are lost, doubled and overtaken, the gateway takes answers when it likes: each request begins once and is
// answered once, and whatever it left may go once.
// As those on disk do: the scheduler has one of each id at a time.
TEST(RemoteDoor, ARequestThatOutlivesItsGatewayWaitsForItsEarlierSelfToEnd) {
  World world;
  const RequestId kept = world.offer(), dropped = world.offer();
  world.steps(2);
  world.door = std::make_unique<RemoteDoor>(world.outer, RemoteDoor::Options{.epoch = 2});
  for (const RequestId id : {kept, dropped}) {
    Arrival again{.request = id, .bytes = Bytes(8)};
    ASSERT_TRUE(world.door->offer({&again, 1}, world.callers));
  }
  world.steps(3);
  EXPECT_EQ(world.hall.cancelled, (std::set{kept, dropped}));
  EXPECT_EQ(world.hall.began[kept], 1);
  world.door->cancel(dropped);
  world.steps(3);
  EXPECT_TRUE(world.told_once(dropped, Answered::Kind::cancelled));
  for (const RequestId id : {kept, dropped}) world.hall.finish(id, Answered::Kind::cancelled);
  world.hall.over.clear();
  world.steps(3);
  EXPECT_EQ(world.hall.began[kept], 2);
  EXPECT_EQ(world.hall.began[dropped], 1);
  EXPECT_TRUE(world.callers.told[kept].empty());
  world.hall.finish(kept);
  world.steps(3);
  EXPECT_TRUE(world.told_once(kept, Answered::Kind::finished));
}

TEST(RemoteDoor, Storms) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    World world;
    Rng rng(seed);
    std::vector<RequestId> ids;
    for (int i = 0; i < 200; ++i) {
      world.callers.at_once = rng.uniform() < 0.5;
      if (i < 100 && rng.uniform() < 0.5) ids.push_back(world.offer());
      world.now = world.now + kStep;
      world.door->work(world.now);
      if (i < 150 && rng.uniform() < 0.3) world.up.shake(rng);
      world.porter.work(world.now);
      if (i < 150 && rng.uniform() < 0.3) world.down.shake(rng);
      if (!world.hall.inside.empty() && rng.uniform() < 0.6) world.hall.finish(world.hall.inside.begin()->first);
      if (!world.callers.fetching.empty() && rng.uniform() < 0.5) {
        const RequestId id = *world.callers.fetching.begin();
        world.callers.fetching.erase(id);
        world.door->taken({id, {}});
      }
    }
    for (int i = 0; i < 400 && world.hall.over.size() < ids.size(); ++i) {
      if (!world.hall.inside.empty()) world.hall.finish(world.hall.inside.begin()->first);
      for (const RequestId id : std::exchange(world.callers.fetching, {})) world.door->taken({id, {}});
      world.step();
    }
    ASSERT_FALSE(world.porter.lost()) << seed;
    for (const RequestId id : ids) {
      ASSERT_EQ(world.hall.began[id], 1) << seed << " " << id.value();
      ASSERT_TRUE(world.told_once(id, Answered::Kind::finished)) << seed << " " << id.value();
      ASSERT_TRUE(world.hall.over.contains(id)) << seed << " " << id.value();
    }
  }
}

}  // namespace
}  // namespace sluice::bus
