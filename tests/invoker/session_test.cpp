// The server's side of the worker protocol, with a worker that says anything at any time.
#include "invoker/session.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace sluice::invoker {
namespace {

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    auto ends = std::move(wire::Channel::pair().value());
    WorkerProcess process;
    process.channel = std::move(ends.first);
    worker_.emplace(std::move(ends.second));
    session_.emplace(std::move(process), arena_, Session::Options{.lanes = 4});
  }
  Session::Heard say(const wire::FromWorker& message) {
    std::string bytes;
    EXPECT_TRUE(wire::encode(message, bytes).ok() && worker_->send(bytes).ok());
    return session_->hear();
  }
  wire::ToWorker told() {
    std::string bytes;
    EXPECT_EQ(worker_->receive(bytes), wire::Received::message);
    return wire::decode_to_worker(bytes).value();
  }
  // Function 3 is loaded and batch 7 runs.
  void begin() {
    const Function function{.name = "f"};
    ASSERT_TRUE(session_->load(3, function, {}).ok());
    EXPECT_EQ(std::get<wire::Load>(told()).name, "f");
    EXPECT_TRUE(std::holds_alternative<wire::Loaded>(say(wire::Loaded{.function = 3})));
    ASSERT_TRUE(session_->run({.batch = 7, .function = 3}, *session_->space_of(64), {}).ok());
    EXPECT_EQ(std::get<wire::Run>(told()).outputs.size, 64u);
  }
  static std::string why(const Session::Heard& heard) {
    const auto* broken = std::get_if<Session::Broken>(&heard);
    return broken == nullptr ? "" : broken->why;
  }

  std::shared_ptr<data::Arena> arena_ = std::move(data::Arena::make(Bytes(1 << 16)).value());
  std::optional<wire::Channel> worker_;
  std::optional<Session> session_;
};

TEST_F(SessionTest, GivesTheAnswerWithTheSpaceItHasToBeIn) {
  begin();
  EXPECT_TRUE(std::holds_alternative<Session::Nothing>(say(wire::Wanted{7, 1000})));
  const auto grant = std::get<wire::Grant>(told());
  EXPECT_EQ(grant.outputs.size, 1000u);
  const auto heard = say(wire::Ran{.batch = 7});
  EXPECT_EQ(std::get<Session::Answer>(heard).space.offset(), grant.outputs.offset);
}

TEST_F(SessionTest, GrantsNothingWhereThereIsNoRoom) {
  begin();
  EXPECT_TRUE(std::holds_alternative<Session::Nothing>(say(wire::Wanted{7, ~0ull})));
  EXPECT_EQ(std::get<wire::Grant>(told()).outputs.size, 0u);
}

TEST_F(SessionTest, HoldsInputsAndSpaceUntilTheAnswer) {
  begin();
  ASSERT_TRUE(session_->run({.batch = 8, .function = 3}, *session_->space_of(4096), {*arena_->allocate(8192)}).ok());
  EXPECT_GE(arena_->used(), 64u + 4096 + 8192);
  (void)say(wire::Ran{.batch = 8});
  EXPECT_EQ(arena_->used(), 64u);
  session_.reset();
  EXPECT_EQ(arena_->used(), 0u);
}

TEST_F(SessionTest, SaysWhatAWorkerDidOutOfTurn) {
  begin();
  EXPECT_EQ(why(say(wire::Loaded{.function = 3})), "said that it has loaded what it was not asked to");
  EXPECT_EQ(why(say(wire::Loaded{.function = 4})), "said that it has loaded what it was not asked to");
  EXPECT_EQ(why(say(wire::Unloaded{3})), "said that it has unloaded what it was not asked to");
  EXPECT_EQ(why(say(wire::Ran{.batch = 8})), "answered what it was not asked");
  EXPECT_EQ(why(say(wire::Ran{.batch = 7, .cancelled = true})), "gave up a batch that nobody cancelled");
  EXPECT_EQ(why(say(wire::Wanted{8, 1})), "asked for space for no batch");
  ASSERT_TRUE(worker_->send("rubbish").ok());
  EXPECT_EQ(why(session_->hear()), "wrote rubbish");
}

TEST_F(SessionTest, TakesAtMostAsManyBatchesAtOnceAsThereAreLanes) {
  ASSERT_TRUE(session_->load(0, Function{.name = "f"}, {}).ok());
  EXPECT_EQ(std::get<wire::Loaded>(say(wire::Loaded{.function = 0, .batches = 1'000'000})).batches, 4u);
}

TEST_F(SessionTest, HearsOfMovesThatItAskedForAndOfNoOthers) {
  auto ends = std::move(wire::Channel::pair().value());
  WorkerProcess process;
  process.channel = std::move(ends.first);
  worker_.emplace(std::move(ends.second));
  session_.emplace(std::move(process), arena_, Session::Options{.lanes = 4, .slices = 4});
  ASSERT_TRUE(session_->load(3, Function{.name = "f"}, {}).ok());
  EXPECT_EQ(std::get<wire::Load>(told()).device, 0);
  (void)say(wire::Loaded{.function = 3});
  ASSERT_TRUE(session_->move(3, Level::host).ok());
  EXPECT_EQ(std::get<wire::Move>(told()).level, Level::host);
  EXPECT_TRUE(std::holds_alternative<wire::Moved>(say(wire::Moved{.function = 3})));
  EXPECT_EQ(why(say(wire::Moved{.function = 3})), "said that it has moved what it was not asked to");
  EXPECT_EQ(why(say(wire::Moved{.function = 4})), "said that it has moved what it was not asked to");
}

TEST_F(SessionTest, HearsThatTheWorkerIsGone) {
  begin();
  EXPECT_FALSE(session_->hung_up());
  worker_.reset();
  EXPECT_TRUE(session_->hung_up());
  EXPECT_TRUE(std::holds_alternative<Session::Closed>(session_->hear()));
}

}  // namespace
}  // namespace sluice::invoker
