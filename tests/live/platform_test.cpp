#include "live/platform.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>
#include <thread>

#include "base/text.h"
#include "live/deployment.h"
#include "live/live_server.h"
#include "support/eventually.h"

namespace sluice::live {
namespace {

using live_test::call;
using live_test::deploy;
using live_test::floats;
using live_test::options_in;
using test::eventually;

// Two stages of a few milliseconds that hand their inputs on.
constexpr const char* kChain = R"(
application: chain
slo: {latency: 2s, percentile: 95}
functions:
  first:  {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 2.0, 0.1], [4, 1, 0, 3.0, 0.1]]}}
  second: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 2.0, 0.1], [4, 1, 0, 3.0, 0.1]]}}
workflow:
  first: {}
  second: {after: first}
)";

class PlatformTest : public testing::Test {
 protected:
  void start() { platform_ = std::move(Platform::start(options_in(folder_.path())).value()); }
  RequestId accept_later(Call call) {
    std::promise<RequestId> accepted;
    platform_->call_later(std::move(call), [&](Result<RequestId> id) { accepted.set_value(id.value()); });
    return accepted.get_future().get();
  }
  // A request that was called for later, once it is answered.
  std::optional<RequestRecord> settled(RequestId id) {
    std::optional<RequestRecord> record;
    EXPECT_TRUE(eventually([&] {
      record = platform_->find_request({}, id);
      return !record || record->state != RequestState::running;
    }));
    return record;
  }
  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

TEST_F(PlatformTest, AnswersWithWhatTheLastStageLeft) {
  start();
  const auto deployed = deploy(*platform_, kChain);
  ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  EXPECT_EQ(deployed->version, 1u);
  const Answer answer = call(*platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1, 2, 3})}).get();
  ASSERT_EQ(answer.kind, AnswerKind::finished) << answer.error;
  ASSERT_EQ(answer.outputs.size(), 1u);
  EXPECT_EQ(answer.outputs[0].info.name, "x");
  float last = 0;
  std::memcpy(&last, answer.outputs[0].bytes().data() + 8, sizeof last);
  EXPECT_EQ(last, 3);
  EXPECT_GT(answer.slack, Duration{});
}

TEST_F(PlatformTest, AnswersManyAtOnceAndGivesTheirMemoryBack) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 200; ++i) {
    answers.push_back(call(*platform_, {.application = "chain",
                                        .inputs = floats(*platform_, "x", {static_cast<float>(i)}),
                                        .objective = Duration::s(60)}));
  }
  for (int i = 0; i < 200; ++i) {
    const Answer answer = answers[static_cast<std::size_t>(i)].get();
    ASSERT_EQ(answer.kind, AnswerKind::finished) << answer.error;
    float value = 0;
    std::memcpy(&value, answer.outputs.at(0).bytes().data(), sizeof value);
    EXPECT_EQ(value, static_cast<float>(i));
  }
  EXPECT_TRUE(platform_->drain(Duration::s(10)));
  EXPECT_EQ(platform_->arenas().used(), 0u);
}

// As the gateway does it: no other thread takes part.
TEST_F(PlatformTest, ALentPlatformIsRunByTheThreadThatAsks) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  bool asked = false;
  platform_->lend([&] { asked = true; });
  std::optional<Answer> answer;
  const std::thread::id self = std::this_thread::get_id();
  platform_->call({.application = "chain", .inputs = floats(*platform_, "x", {1})}, [&](Answer came) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    answer = std::move(came);
  });
  EXPECT_TRUE(asked);
  while (!answer) {
    pollfd readable{.fd = platform_->descriptor(), .events = POLLIN, .revents = 0};
    if (!asked) {
      ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
    }
    asked = false;
    platform_->work();
  }
  EXPECT_EQ(answer->kind, AnswerKind::finished) << answer->error;
}

TEST_F(PlatformTest, WhatIsAskedOfALentPlatformIsAnsweredAfterItIsTakenBack) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  platform_->lend([] {});
  auto answer = call(*platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1})});
  platform_->take_back();
  EXPECT_EQ(answer.get().kind, AnswerKind::finished);
}

// A snapshot is made every 50 ms: what callers have to give is worked out when something is deployed.
TEST_F(PlatformTest, WiringIsWalkedOnceForAllSnapshots) {
  start();
  ASSERT_TRUE(deploy(*platform_, R"(
application: wired
slo: {latency: 2s}
functions:
  f:
    runtime: emulated
    memory: 10MB
    inputs: {x: {type: FP32, shape: [1]}}
    outputs: {y: {type: FP32, shape: [1]}}
    profile: {table: [[1, 1, 0, 2.0, 0.1]]}
workflow: {f: {}}
)")
                  .ok());
  const auto first = platform_->settled_snapshot(), second = platform_->settled_snapshot();
  ASSERT_NE(first, second);
  const Model *before = first->find("default", "wired"), *after = second->find("default", "wired");
  ASSERT_TRUE(before != nullptr && after != nullptr);
  ASSERT_FALSE(before->inputs.empty() || before->outputs.empty());
  EXPECT_EQ(before->inputs.data(), after->inputs.data());
  EXPECT_EQ(before->outputs.data(), after->outputs.data());
}

TEST_F(PlatformTest, CallsFunctionsAloneByEitherName) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  for (const char* name : {"second", "chain.second"}) {
    const Answer answer = call(*platform_, {.application = name, .inputs = floats(*platform_, "x", {1})}).get();
    EXPECT_EQ(answer.kind, AnswerKind::finished) << name << " " << answer.error;
  }
  std::promise<Status> removed;
  platform_->remove({}, "chain", [&](Status status) { removed.set_value(std::move(status)); });
  EXPECT_TRUE(removed.get_future().get().ok());
  EXPECT_TRUE(platform_->settled_snapshot()->models.empty());
}

TEST_F(PlatformTest, RefusesWhatIsNotDeployed) {
  start();
  const Answer answer = call(*platform_, {.application = "nobody", .inputs = floats(*platform_, "x", {1})}).get();
  EXPECT_EQ(answer.kind, AnswerKind::rejected);
  EXPECT_EQ(answer.reason, RejectReason::not_deployed);
}

TEST_F(PlatformTest, RefusesWhatTheMachinesCannotDoNowAndSaysWhenToTryAgain) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 500; ++i) {
    answers.push_back(call(
        *platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1}), .objective = Duration::ms(20)}));
  }
  std::size_t refused = 0;
  for (auto& future : answers) {
    const Answer answer = future.get();
    if (answer.kind != AnswerKind::rejected) continue;
    ++refused;
    EXPECT_EQ(answer.reason, RejectReason::overloaded);
    EXPECT_GT(answer.needed, answer.available);
    EXPECT_TRUE(answer.retry_after.has_value());
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(PlatformTest, CountsHowLongFunctionsTookToStartAndDecisionsToBeMade) {
  start();
  ASSERT_TRUE(deploy(*platform_, R"(
application: slow
slo: {latency: 2s, percentile: 95}
functions:
  f: {runtime: emulated, memory: 10MB, cold_start: 50ms, profile: {table: [[1, 1, 0, 2.0, 0.1]]}}
workflow: {f: {}}
)")
                  .ok());
  (void)call(*platform_, {.application = "slow", .inputs = floats(*platform_, "x", {1})}).get();
  const auto snapshot = platform_->settled_snapshot();
  ASSERT_EQ(snapshot->cold.size(), 1u);
  const ColdStartStats& cold = snapshot->cold[0];
  EXPECT_EQ(cold.application + " " + cold.function, "slow f");
  EXPECT_EQ(cold.process.count, 1u);
  EXPECT_GT(cold.process.ns, 0u);
  EXPECT_EQ(cold.load.count, 1u);
  EXPECT_GT(cold.load.ns, 0u);
  EXPECT_EQ(cold.ready.count, 1u);
  EXPECT_GE(cold.process.ns + cold.load.ns + cold.ready.ns, 50'000'000u);
  std::uint64_t decisions = 0;
  for (const std::uint64_t count : snapshot->decisions.counts) decisions += count;
  EXPECT_GT(decisions, 1u);
  EXPECT_GE(snapshot->decisions.sum_ns, snapshot->decisions.max_ns);
  EXPECT_GT(snapshot->decisions.max_ns, 0u);
}

TEST_F(PlatformTest, SaysThatItIsStopping) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  ASSERT_TRUE(platform_->drain(Duration::s(10)));
  const Answer answer = call(*platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1})}).get();
  EXPECT_EQ(answer.reason, RejectReason::no_capacity);
  EXPECT_EQ(answer.error, "the server is stopping");
  std::promise<Error> later;
  platform_->call_later({.application = "chain", .inputs = floats(*platform_, "x", {1})},
                        [&](Result<RequestId> id) { later.set_value(id.error()); });
  EXPECT_EQ(later.get_future().get().code, ErrorCode::io);  // not "unavailable": no place in a queue will help
}

TEST_F(PlatformTest, KeepsApplicationsAndAnswersOfLaterCallsAcrossRestarts) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  std::promise<RequestId> accepted;
  platform_->call_later({.application = "chain", .inputs = floats(*platform_, "x", {7}), .caller_id = "mine"},
                        [&](Result<RequestId> id) { accepted.set_value(id.value()); });
  const RequestId id = accepted.get_future().get();
  platform_.reset();  // with the request under way
  start();
  std::optional<RequestRecord> record = settled(id);
  EXPECT_EQ(record->state, RequestState::met) << record->error;
  const auto outputs = platform_->outputs_of({}, id);
  ASSERT_NE(outputs, nullptr);
  EXPECT_EQ(outputs->at(0).info.name, "x");
}

TEST_F(PlatformTest, KeepsTheCallersIdAndTheVersionThatServedALaterCall) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  ASSERT_TRUE(deploy(*platform_, std::string(kChain) + "# changed\n").ok());
  std::promise<RequestId> accepted;
  platform_->call_later({.application = "chain", .inputs = floats(*platform_, "x", {7}), .caller_id = "mine"},
                        [&](Result<RequestId> id) { accepted.set_value(id.value()); });
  const RequestId id = accepted.get_future().get();
  EXPECT_EQ(settled(id)->caller_id, "mine");
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  platform_.reset();
  start();
  EXPECT_EQ(settled(id)->caller_id, "mine");
  EXPECT_EQ(settled(id)->version, 2u);
}

TEST_F(PlatformTest, GivesAnAnswerThatWasKeptWhileThereIsNoRoomForRequests) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  const RequestId id = accept_later({.application = "chain", .inputs = floats(*platform_, "x", {7})});
  ASSERT_EQ(settled(id)->state, RequestState::met);
  const auto all = [&] { return platform_->arena("default")->allocate(platform_->arenas().max()); };
  std::optional<data::Block> everything;
  ASSERT_TRUE(eventually([&] { return (everything = all()).has_value(); }));
  const auto outputs = platform_->outputs_of({}, id);
  ASSERT_NE(outputs, nullptr);
  EXPECT_EQ(outputs->size(), 1u);
}

// One that the store cannot keep is answered once, and not run again by every start.
TEST_F(PlatformTest, AnAnswerTooLargeForTheStoreFailsItsRequestForGood) {
  PlatformOptions options = options_in(folder_.path());
  options.store.value_max = Bytes(100'000);
  platform_ = std::move(Platform::start(options).value());
  constexpr const char* kLarge = R"(
application: large
slo: {latency: 20s}
functions:
  f:
    runtime: emulated
    memory: 10MB
    outputs: {y: {type: FP32, shape: [50000]}}
    profile: {table: [[1, 1, 0, 1.0, 0.1]]}
workflow: {f: {}}
)";
  ASSERT_TRUE(deploy(*platform_, kLarge).ok());
  const RequestId id = accept_later({.application = "large", .inputs = floats(*platform_, "x", {7})});
  for (int starts = 0; starts < 2; ++starts) {
    const auto record = settled(id);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->state, RequestState::failed);
    EXPECT_TRUE(record->error.starts_with("its outputs cannot be kept: ")) << record->error;
    EXPECT_EQ(platform_->settled_snapshot()->batches, starts == 0 ? 1u : 0u);
    platform_.reset();
    platform_ = std::move(Platform::start(options).value());
  }
}

TEST_F(PlatformTest, LogsWhatReplaysToTheSameCommands) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 50; ++i) {
    answers.push_back(call(*platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1})}));
  }
  for (auto& answer : answers) (void)answer.get();
  platform_.reset();
  const auto replayed = live_test::replay_in(folder_.path());
  ASSERT_TRUE(replayed.ok()) << replayed.error().message;
  EXPECT_FALSE(replayed->difference.has_value());
  EXPECT_GT(replayed->commands, 50u);
}

TEST_F(PlatformTest, ReplacesAVersionWithoutLosingARequest) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 20; ++i) {
    answers.push_back(call(
        *platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1}), .objective = Duration::s(60)}));
  }
  const auto again = deploy(*platform_, std::string(kChain) + "# changed\n");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->version, 2u);
  for (int i = 0; i < 20; ++i) {
    answers.push_back(call(
        *platform_, {.application = "chain", .inputs = floats(*platform_, "x", {1}), .objective = Duration::s(60)}));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().kind, AnswerKind::finished);
}

TEST_F(PlatformTest, ANewVersionWithoutAFunctionTakesTheFunctionAway) {
  start();
  ASSERT_TRUE(deploy(*platform_, kChain).ok());
  ASSERT_TRUE(deploy(*platform_, R"(
application: chain
slo: {latency: 2s, percentile: 95}
functions:
  first: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 2.0, 0.1]]}}
workflow: {first: {}}
)")
                  .ok());
  for (const char* name : {"chain.second", "second"}) {
    const Answer answer = call(*platform_, {.application = name, .inputs = floats(*platform_, "x", {1})}).get();
    EXPECT_EQ(answer.kind, AnswerKind::rejected) << name;
  }
  for (const char* name : {"chain", "chain.first", "first"}) {
    const Answer answer = call(*platform_, {.application = name, .inputs = floats(*platform_, "x", {1})}).get();
    EXPECT_EQ(answer.kind, AnswerKind::finished) << name << " " << answer.error;
  }
}

TEST_F(PlatformTest, ARedeployAfterARestartMeasuresNothingAgain) {
  constexpr const char* kUnprofiled = R"(
application: plain
slo: {latency: 2s, percentile: 95}
functions:
  f: {runtime: process, command: [cat], memory: 10MB}
workflow: {f: {}}
)";
  {  // as the thread that measures leaves it
    auto store = store::Store::open(folder_.path());
    const ModelFiles models(folder_.path() + "/models");
    const auto application = prepare({.main = "app.yaml", .files = {{"app.yaml", kUnprofiled}}}, models,
                                     options_in(folder_.path()).nodes, [](std::uint64_t) { return std::nullopt; });
    ASSERT_TRUE(application.ok()) << application.error().message;
    ASSERT_EQ(application->profiled.front().state, ProfileState::waiting);
    ASSERT_TRUE(store->put_profile(application->keys[0], "batch,vcpu,vgpu,mean_ms,sd_ms\n1,1,0,3,0.1\n").ok());
  }
  start();
  const auto deployed = deploy(*platform_, kUnprofiled);
  ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  for (const std::string& message : deployed->messages)
    EXPECT_EQ(message.find("measured"), std::string::npos) << message;
}

std::string chain_of(std::size_t stages) {
  std::string out =
      str("application: long\nslo: {latency: 60s}\nfunctions: {f: {runtime: emulated, memory: 1MB, "
          "profile: {table: [[1, 1, 0, 0.1, 0.01]]}}}\nworkflow:\n  s0: {function: f}\n");
  for (std::size_t i = 1; i < stages; ++i) out += str("  s", i, ": {function: f, after: s", i - 1, "}\n");
  return out;
}

TEST_F(PlatformTest, ServesWhatIsDeployedAgainAfterItWasRemoved) {
  start();
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(deploy(*platform_, chain_of(3)).ok());
    ASSERT_TRUE(deploy(*platform_, kChain).ok());  // in other places of queues each time
    for (const char* name : {"long", "chain", "long.f"}) {
      const Answer answer = call(*platform_, {.application = name, .inputs = floats(*platform_, "x", {1})}).get();
      EXPECT_EQ(answer.kind, AnswerKind::finished) << name << ": " << answer.error;
    }
    std::promise<Status> removed;
    platform_->remove({}, "long", [&](const Status& status) { removed.set_value(status); });
    EXPECT_TRUE(removed.get_future().get().ok());
  }
}

TEST_F(PlatformTest, RefusesAWorkflowThatTakesTooLongToPlan) {
  start();
  const auto deployed = deploy(*platform_, chain_of(501));
  ASSERT_FALSE(deployed.ok());
  EXPECT_EQ(deployed.error().code, ErrorCode::too_large);
  EXPECT_NE(deployed.error().message.find("501 stages"), std::string::npos) << deployed.error().message;
  EXPECT_TRUE(deploy(*platform_, chain_of(500)).ok());
}

}  // namespace
}  // namespace sluice::live
