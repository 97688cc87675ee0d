// What was accepted stays accepted, whatever the next start can run.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "data/tensor_blob.h"
#include "live/live_server.h"
#include "support/eventually.h"

namespace sluice::live {
namespace {

using live_test::deploy;
using live_test::floats;
using live_test::options_in;

std::string document(const char* row, const char* slo = "60s") {
  return str("application: kept\nslo: {latency: ", slo,
             "}\nfunctions:\n  f: {runtime: emulated, memory: 10MB, profile: {table: [", row,
             "]}}\nworkflow: {f: {}}\n");
}
constexpr const char* kOnSlices = "[1, 1, 1, 20.0, 0.1]";
constexpr const char* kOnCpus = "[1, 1, 0, 20.0, 0.1]";

class RestartTest : public testing::Test {
 protected:
  void start(const PlatformOptions& options) {
    platform_.reset();
    auto started = Platform::start(options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    platform_ = std::move(*started);
  }
  PlatformOptions right() {
    PlatformOptions out = options_in(folder_.path());
    out.say = [this](const Remark& remark) {
      const std::lock_guard lock(mutex_);
      said_ += remark.text + "\n";
    };
    return out;
  }
  PlatformOptions without_gpus() {
    PlatformOptions out = right();
    out.nodes.front().gpus = 0;
    return out;
  }
  std::vector<RequestId> accept(int count, std::size_t values = 1) {
    std::vector<RequestId> out;
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(
          test::eventually([&] { return platform_->arenas().max() - platform_->arenas().used() >= values * 8; }));
      std::promise<Result<RequestId>> accepted;
      platform_->call_later({.application = "kept", .inputs = floats(*platform_, "x", std::vector<float>(values))},
                            [&](Result<RequestId> id) { accepted.set_value(std::move(id)); });
      auto id = accepted.get_future().get();
      EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
      if (id.ok()) out.push_back(*id);
    }
    return out;
  }
  // By a server that ended before it answered any of them.
  std::vector<RequestId> accepted_before(const std::string& app, std::uint64_t count, Duration objective) {
    start(right());
    EXPECT_TRUE(deploy(*platform_, app).ok());
    const std::string inputs = data::to_blob(*floats(*platform_, "x", {1}));
    platform_.reset();
    auto store = store::Store::open(folder_.path());
    std::vector<RequestId> ids;
    for (std::uint64_t i = 1; i <= count; ++i) {
      ids.emplace_back(i);
      const store::Request request{.id = RequestId(i), .application = "kept", .objective = objective};
      EXPECT_TRUE(store->put_request(request, inputs).ok());
    }
    return ids;
  }
  RequestState settled(RequestId id) {
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
      const auto record = platform_->find_request({}, id);
      if (!record) return RequestState::failed;
      if (record->state != RequestState::running) return record->state;
    }
    return RequestState::running;
  }
  std::size_t met(const std::vector<RequestId>& ids) {
    std::size_t out = 0;
    for (const RequestId id : ids) {
      const RequestState state = settled(id);
      out += state == RequestState::met ? 1 : 0;
      EXPECT_EQ(state, RequestState::met) << id.value() << ": " << platform_->find_request({}, id)->error;
    }
    return out;
  }
  bool all_run(const std::vector<RequestId>& ids) {
    return std::all_of(ids.begin(), ids.end(), [&](RequestId id) {
      const auto record = platform_->find_request({}, id);
      return record && record->state == RequestState::running;
    });
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  std::mutex mutex_;
  std::string said_;
  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

TEST_F(RestartTest, AStartOnOtherMachinesKeepsWhatWasAcceptedAndSaysSo) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document("[1, 1, 1, 400.0, 0.1]")).ok());
  const auto ids = accept(30);
  start(without_gpus());
  const auto snapshot = platform_->settled_snapshot();
  const Model* model = snapshot->find("default", "kept");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->state, ModelState::unavailable);
  EXPECT_NE(model->reason.find("fits no machine here"), std::string::npos) << model->reason;
  EXPECT_EQ(snapshot->waiting, 30u);
  EXPECT_NE(said().find("30 accepted requests"), std::string::npos) << said();
  EXPECT_TRUE(all_run(ids));
  start(right());
  EXPECT_EQ(platform_->settled_snapshot()->find("default", "kept")->state, ModelState::ready);
  EXPECT_EQ(met(ids), 30u);
}

TEST_F(RestartTest, WhatWasKeptRunsWhenTheApplicationIsDeployedAgain) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document("[1, 1, 1, 400.0, 0.1]")).ok());
  const auto ids = accept(5);
  start(without_gpus());
  EXPECT_TRUE(all_run(ids));
  ASSERT_TRUE(deploy(*platform_, document(kOnCpus)).ok());
  EXPECT_EQ(met(ids), 5u);
  EXPECT_EQ(platform_->find_request({}, ids[0])->version, 2u);
}

TEST_F(RestartTest, RequestsOfAFunctionWaitForItsApplication) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document("[1, 1, 1, 400.0, 0.1]")).ok());
  std::vector<RequestId> ids;
  for (const char* name : {"f", "kept.f"}) {
    std::promise<RequestId> accepted;
    platform_->call_later({.application = name, .inputs = floats(*platform_, "x", {1})},
                          [&](Result<RequestId> id) { accepted.set_value(id.value()); });
    ids.push_back(accepted.get_future().get());
  }
  start(without_gpus());
  (void)platform_->settled_snapshot();
  EXPECT_TRUE(all_run(ids));
  start(right());
  EXPECT_EQ(met(ids), 2u);
}

TEST_F(RestartTest, RemovingAnUnavailableApplicationAnswersWhatWaited) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document("[1, 1, 1, 400.0, 0.1]")).ok());
  const auto ids = accept(3);
  start(without_gpus());
  std::promise<Status> removed;
  platform_->remove({}, "kept", [&](Status status) { removed.set_value(std::move(status)); });
  EXPECT_TRUE(removed.get_future().get().ok());
  for (const RequestId id : ids) EXPECT_EQ(settled(id), RequestState::rejected);
  EXPECT_EQ(platform_->settled_snapshot()->find("default", "kept"), nullptr);
}

TEST_F(RestartTest, CancellingWhatWaitsAnswersIt) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document("[1, 1, 1, 400.0, 0.1]")).ok());
  const auto ids = accept(3);
  start(without_gpus());
  (void)platform_->settled_snapshot();
  platform_->cancel({}, ids[1]);
  EXPECT_EQ(settled(ids[1]), RequestState::cancelled);
  start(right());
  EXPECT_EQ(met({ids[0], ids[2]}), 2u);
}

TEST_F(RestartTest, NewRequestsForAnUnavailableApplicationAreRefused) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document(kOnSlices)).ok());
  start(without_gpus());
  (void)platform_->settled_snapshot();
  std::promise<Result<RequestId>> accepted;
  platform_->call_later({.application = "kept", .inputs = floats(*platform_, "x", {1})},
                        [&](Result<RequestId> id) { accepted.set_value(std::move(id)); });
  const auto refused = accepted.get_future().get();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_NE(refused.error().message.find("fits no machine here"), std::string::npos) << refused.error().message;
}

// More than the arena holds: what does not fit waits on disk.
TEST_F(RestartTest, WhatDoesNotFitIntoTheArenaWaits) {
  constexpr std::size_t kValues = 512u << 10;  // 2 MiB
  PlatformOptions small = right();
  small.objects = Bytes::mb(24);
  start(small);
  ASSERT_TRUE(deploy(*platform_, document("[1, 4, 0, 30.0, 0.1]")).ok());
  const auto ids = accept(40, kValues);
  ASSERT_EQ(ids.size(), 40u);
  start(small);  // with most of them unanswered
  EXPECT_EQ(met(ids), 40u);
}

TEST_F(RestartTest, ARequestLargerThanTheArenaIsKeptAndOthersGoOn) {
  start(right());
  ASSERT_TRUE(deploy(*platform_, document("[1, 4, 0, 200.0, 0.1]")).ok());
  auto ids = accept(1);
  const auto large = accept(1, 4u << 20);  // 16 MiB
  const auto after = accept(2);
  ids.insert(ids.end(), after.begin(), after.end());
  PlatformOptions small = right();
  small.objects = Bytes::mb(8);
  start(small);
  EXPECT_EQ(met(ids), 3u);
  EXPECT_TRUE(all_run(large));
  EXPECT_NE(said().find("larger than"), std::string::npos) << said();
  start(right());
  EXPECT_EQ(met(large), 1u);
}

TEST_F(RestartTest, WhatDoesNotFitIntoTheMailboxWaits) {
  const auto ids = accepted_before(document("[1, 1, 0, 1.0, 0.1]"), 100, Duration::s(20));
  PlatformOptions narrow = right();
  narrow.mailbox_max = 4;
  start(narrow);
  EXPECT_EQ(met(ids), 100u);
}

// All that waited comes at once, and objectives are shorter than it takes to serve them: they take turns. One that was
// let in may miss its objective where others use the CPUs; that is no refusal.
TEST_F(RestartTest, WhatWaitedIsNotRefusedBecauseTheMachinesAreFull) {
  const auto ids = accepted_before(document("[1, 4, 0, 40.0, 0.1]"), 60, Duration::ms(1500));
  start(right());
  std::size_t finished = 0;
  for (const RequestId id : ids) {
    const RequestState state = settled(id);
    const std::string error = platform_->find_request({}, id)->error;
    const bool ended = state == RequestState::met || state == RequestState::late;
    EXPECT_TRUE(ended || error == "DeadlineExceeded") << id.value() << ": " << error;
    finished += ended ? 1 : 0;
  }
  EXPECT_GT(finished, 0u);
}

}  // namespace
}  // namespace sluice::live
