// Outputs that stay on a GPU between stages. The GPU is not there (gpu_worker.cpp): what its worker keeps is in memory
// of its own and the arena has rubbish, so that whoever reads without a fetch reads what is wrong.
#include <gtest/gtest.h>

#include <csignal>

#include "base/text.h"
#include "domain/limits.h"
#include "invoker/gather.h"
#include "invoker/scene.h"
#include "support/places.h"

namespace sluice::invoker_test {
namespace {

constexpr std::size_t kLarge = 1'200'000;
constexpr std::size_t kKeptMost = 8'000'000;  // by that worker
constexpr std::uint32_t kSlices = 4;
constexpr std::uint64_t kFirst = 1, kSecond = 2;  // instances

// Two stages, each adds one to every byte. Functions are numbered by their names.
Application kept_chain(const std::string& first = "adds-a") {
  const std::string body =
      "{runtime: emulated, memory: 1GB, profile: {table: [[1, 1, 1, 1.0, 0.1], [1, 1, 0, 1.0, 0.1]]}}";
  return application_of(str("application: a\nslo: 1s\nfunctions: {", first, ": ", body, ", adds-b: ", body,
                            "}\nworkflow: {one: {function: ", first, "}, two: {function: adds-b, after: one}}\n"));
}

class KeptTest : public testing::Test {
 protected:
  static invoker::AgentOptions options(GpuMode mode = GpuMode::green) {
    invoker::AgentOptions out;
    out.spawner.worker = test::in_build("tests/invoker/gpu_worker");
    out.spawner.park = false;  // this one cannot be forked
    out.gpus.slices = kSlices;
    out.gpus.mode = mode;
    for (const char* uuid : {"GPU-first", "GPU-second"}) out.gpus.devices.push_back({.uuid = uuid, .name = "Fake"});
    return out;
  }
  void begin(Application application = kept_chain(), GpuMode mode = GpuMode::green) {
    scene_.emplace(std::move(application), options(mode));
  }
  void load(std::uint64_t instance, Level level = Level::device, std::uint16_t gpu = 0) {
    scene_->act(LoadInstance{.invoker = InvokerId(0),
                             .instance = InstanceId(instance),
                             .application = ApplicationId(0),
                             .function = FunctionId(instance % 2 == 1 ? 0 : 1),
                             .level = level,
                             .gpu = gpu});
    EXPECT_TRUE(scene_->next<InstanceLoaded>().has_value());
  }
  RequestId request(std::size_t bytes = kLarge) {
    const RequestId id(++requests_);
    const data::Block block = *scene_->arena().allocate(bytes);
    std::memset(block.data(), 'a', bytes);
    const data::Tensor x{
        .info = {"x", DataType::uint8, {static_cast<std::int64_t>(bytes)}}, .block = block, .size = bytes};
    scene_->objects().open(id, std::make_shared<const data::Tensors>(data::Tensors{x}));
    return id;
  }
  void start(std::uint32_t stage, const std::vector<RequestId>& requests, std::uint64_t instance) {
    StartBatch start{.id = BatchId(++batches_),
                     .invoker = InvokerId(0),
                     .instance = InstanceId(instance),
                     .application = ApplicationId(0),
                     .function = FunctionId(stage),
                     .configuration = configuration(static_cast<int>(requests.size()), 1, 1),
                     .positions = {.gpu = 0, .slices = 1},
                     .latest = Time::max()};
    for (const RequestId request : requests) {
      start.members.push_back({.invocation = InvocationId(request.value()),
                               .request = request,
                               .run = request.value(),
                               .stage = StageId(stage)});
    }
    scene_->act(std::move(start));
  }
  // Why it failed; empty: it did not.
  std::string run(std::uint32_t stage, const std::vector<RequestId>& requests, std::uint64_t instance) {
    start(stage, requests, instance);
    const auto finished = scene_->next<BatchFinished>();
    if (!finished) return "nothing";
    for (const InvocationResult& result : finished->results) {
      if (!result.error.empty()) return result.error;
    }
    return "";
  }
  [[nodiscard]] const data::Tensor& left_by(std::uint32_t stage, RequestId request) {
    left_ = scene_->objects().get(request, {.outermost = request.value(), .stage = StageId(stage)});
    return left_->at(0);
  }
  // That a stage left this byte and no other.
  bool left(std::uint32_t stage, RequestId request, char value) {
    const data::Tensor& tensor = left_by(stage, request);
    return tensor.size > 0 && std::ranges::all_of(tensor.bytes(), [&](std::byte b) { return b == std::byte(value); });
  }
  const invoker::GpuCounters& gpu() { return scene_->agent().counters().gpus[0]; }
  void wait_until_nothing_is_kept() {
    for (const Time until = data::now() + Duration::s(30); gpu().kept_bytes > 0 && data::now() < until;)
      scene_->wait(until);
    EXPECT_EQ(gpu().kept_bytes, 0u);
  }

  std::optional<Scene> scene_;
  std::uint64_t requests_ = 0, batches_ = 0;
  data::SharedTensors left_;
};

TEST_F(KeptTest, PassFromStageToStageOnOneGpuWithoutBeingCopied) {
  begin();
  load(kFirst);
  load(kSecond);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  EXPECT_EQ(gpu().kept_bytes, kLarge);
  EXPECT_FALSE(left_by(0, one).kept->fetched());
  EXPECT_EQ(run(1, {one}, kSecond), "");
  EXPECT_TRUE(left(1, one, 'c'));
  EXPECT_EQ(scene_->lines().back(), "1 of them on the device");
  EXPECT_EQ(gpu().kept, 1u);  // what the last stage leaves is for the caller
  EXPECT_EQ(gpu().fetches, 0u);
  EXPECT_EQ(gpu().bytes_in, kLarge);
  EXPECT_EQ(gpu().bytes_out, kLarge);
}

TEST_F(KeptTest, AreReleasedWhenTheirRequestsEnd) {
  begin();
  load(kFirst);
  for (std::size_t i = 0; i < 3 * kKeptMost / kLarge; ++i) {  // more than the worker keeps, unless it hears of the ends
    const RequestId one = request();
    EXPECT_EQ(run(0, {one}, kFirst), "");
    EXPECT_EQ(gpu().kept, i + 1);
    EXPECT_EQ(gpu().kept_bytes, kLarge);
    scene_->objects().release(one);
    wait_until_nothing_is_kept();
  }
  EXPECT_EQ(scene_->arena().used(), 0u);
}

TEST_F(KeptTest, AreFetchedForAStageOnCpus) {
  begin();
  load(kFirst);
  load(kSecond, Level::host);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  EXPECT_EQ(run(1, {one}, kSecond), "");
  EXPECT_TRUE(left(1, one, 'c'));
  EXPECT_EQ(gpu().fetches, 1u);
  EXPECT_TRUE(left(0, one, 'b'));
  EXPECT_EQ(gpu().bytes_out, kLarge);
}

TEST_F(KeptTest, AreFetchedForAStageOnAnotherGpuOnceForAllOfThem) {
  begin();
  load(kFirst);
  load(kSecond, Level::device, 1);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(run(1, {one}, kSecond), "");
    EXPECT_TRUE(left(1, one, 'c'));
  }
  EXPECT_EQ(gpu().fetches, 1u);
}

TEST_F(KeptTest, ABatchTakesThemTogetherWithWhatWasCopiedOut) {
  begin();
  load(kFirst);
  load(kSecond);
  std::vector<RequestId> all;
  for (std::size_t i = 0; i < kKeptMost / kLarge + 2; ++i) {
    all.push_back(request());
    EXPECT_EQ(run(0, {all.back()}, kFirst), "");
  }
  EXPECT_EQ(gpu().kept, kKeptMost / kLarge);
  EXPECT_EQ(run(1, all, kSecond), "");
  for (const RequestId one : all) EXPECT_TRUE(left(1, one, 'c'));
  EXPECT_EQ(gpu().fetches, 0u);
}

TEST_F(KeptTest, SmallOnesAreCopiedOut) {
  begin();
  load(kFirst);
  const RequestId one = request(limits::kept_bytes_min);
  EXPECT_EQ(run(0, {one}, kFirst), "");
  EXPECT_EQ(gpu().kept, 0u);
  EXPECT_TRUE(left(0, one, 'b'));
}

TEST_F(KeptTest, NothingIsKeptWhereEveryFunctionHasAProcess) {
  begin(kept_chain(), GpuMode::none);
  load(kFirst);
  EXPECT_EQ(run(0, {request()}, kFirst), "");
  EXPECT_EQ(gpu().kept, 0u);
}

TEST_F(KeptTest, NothingIsKeptWhileASampleIsWanted) {
  begin();
  scene_->agent().want_sample(ApplicationId(0), FunctionId(1), true);
  load(kFirst);
  load(kSecond);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  EXPECT_EQ(gpu().kept, 0u);
  EXPECT_EQ(run(1, {one}, kSecond), "");
  ASSERT_EQ(scene_->samples().size(), 1u);
}

TEST_F(KeptTest, ASampleThatIsWantedLaterIsNotMadeOfWhatIsOnTheDevice) {
  begin();
  load(kFirst);
  load(kSecond);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  scene_->agent().want_sample(ApplicationId(0), FunctionId(1), true);
  EXPECT_EQ(run(1, {one}, kSecond), "");
  EXPECT_TRUE(scene_->samples().empty());
}

TEST_F(KeptTest, AreLostWithTheirWorkerAndTheSchedulerHearsOfIt) {
  begin();
  load(kFirst);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  ::kill(static_cast<pid_t>(scene_->pid(kFirst)), SIGKILL);
  EXPECT_TRUE(scene_->next<InstanceUnloaded>().has_value());
  EXPECT_EQ(gpu().kept_bytes, 0u);
  load(kSecond);
  start(1, {one}, kSecond);
  const auto lost = scene_->next<ObjectLost>();
  EXPECT_EQ(lost->request, one);
  EXPECT_EQ(lost->invoker, InvokerId(0));
  const auto finished = scene_->next<BatchFinished>();
  EXPECT_EQ(finished->results.at(0).outcome, Outcome::not_run);
  load(3);  // and it is made again
  EXPECT_EQ(run(0, {one}, 3), "");
  EXPECT_EQ(run(1, {one}, kSecond), "");
  EXPECT_TRUE(left(1, one, 'c'));
}

TEST_F(KeptTest, AWorkerThatIsKilledWhileItIsAskedCostsTheSame) {
  begin();
  load(kFirst);
  load(kSecond, Level::host);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  const auto pid = static_cast<pid_t>(scene_->pid(kFirst));
  ::kill(pid, SIGSTOP);
  start(1, {one}, kSecond);
  EXPECT_FALSE(scene_->happened<ObjectLost>());
  ::kill(pid, SIGKILL);
  EXPECT_EQ(scene_->next<ObjectLost>()->request, one);
  EXPECT_EQ(scene_->next<BatchFinished>()->results.at(0).outcome, Outcome::not_run);
}

TEST_F(KeptTest, AWorkerThatDoesNotAnswerAFetchIsLost) {
  invoker::AgentOptions impatient = options();
  impatient.hang_least = Duration::ms(200);
  scene_.emplace(kept_chain(), impatient);
  load(kFirst);
  load(kSecond, Level::host);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  const auto pid = static_cast<pid_t>(scene_->pid(kFirst));
  ::kill(pid, SIGSTOP);
  start(1, {one}, kSecond);
  EXPECT_EQ(scene_->next<ObjectLost>()->request, one);
  EXPECT_EQ(scene_->agent().counters().crashes, 1u);
}

TEST_F(KeptTest, AreHereBeforeTheirWorkerLeaves) {
  begin();
  load(kFirst);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  scene_->lower(kFirst, Level::none);
  EXPECT_EQ(scene_->next<InstanceUnloaded>()->level, Level::none);
  EXPECT_TRUE(left(0, one, 'b'));
  load(kSecond);
  EXPECT_EQ(run(1, {one}, kSecond), "");
  EXPECT_TRUE(left(1, one, 'c'));
  EXPECT_FALSE(scene_->happened<ObjectLost>());
}

TEST_F(KeptTest, ABatchThatIsCancelledWhileItWaitsForThemEnds) {
  begin();
  load(kFirst);
  load(kSecond, Level::host);
  const RequestId one = request();
  EXPECT_EQ(run(0, {one}, kFirst), "");
  const auto pid = static_cast<pid_t>(scene_->pid(kFirst));
  ::kill(pid, SIGSTOP);
  start(1, {one}, kSecond);
  scene_->act(CancelBatch{.invoker = InvokerId(0), .id = BatchId(batches_)});
  EXPECT_EQ(scene_->next<BatchFailed>()->error, "Cancelled");
  scene_->objects().release(one);
  ::kill(pid, SIGCONT);
  wait_until_nothing_is_kept();
  EXPECT_EQ(scene_->arena().used(), 0u);
  EXPECT_EQ(run(0, {request()}, kFirst), "");  // its worker is well
}

TEST_F(KeptTest, AWorkerThatKeepsWhatIsSmallIsLost) {
  begin(kept_chain("adds-and-keeps-all"));
  scene_->act(LoadInstance{.invoker = InvokerId(0),
                           .instance = InstanceId(kFirst),
                           .application = ApplicationId(0),
                           .function = FunctionId(0),
                           .level = Level::device});
  EXPECT_TRUE(scene_->next<InstanceLoaded>().has_value());
  start(0, {request(1000)}, kFirst);
  EXPECT_NE(scene_->next<BatchFailed>()->error.find("kept an output on a device that it was not asked to"),
            std::string::npos);
  EXPECT_EQ(scene_->agent().counters().crashes, 1u);
}

// Two outputs that are kept may have places beside each other, and are apart on the device.
TEST(GatherOfKept, OutputsAreNotStackedAcrossWhatIsKept) {
  const auto arena = data::Arena::make(Bytes::mb(1)).value();
  const data::Block space = *arena->allocate(192);
  const auto kept = [&](std::size_t offset) {
    return std::make_shared<data::Kept>(
        data::KeptPlace{.keeper = 7, .space = space, .offset = space.offset() + offset, .size = 64},
        [](const data::KeptPlace&) {});
  };
  const auto row = [&](std::size_t offset, std::shared_ptr<data::Kept> of) {
    return data::Tensors{
        {.info = {"x", DataType::uint8, {64}}, .block = space, .offset = offset, .size = 64, .kept = std::move(of)}};
  };
  const auto inputs = [&](const data::Tensors& a, const data::Tensors& b, std::uint64_t worker) {
    const data::Tensors* members[] = {&a, &b};
    return invoker::as_they_lie(members, invoker::ProcessId(worker)).inputs;
  };
  const auto one = kept(0), other = kept(64);
  const auto apart = inputs(row(0, one), row(64, other), 7);
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].device, 0);
  const auto mixed = inputs(row(0, one), row(64, nullptr), 7);
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(mixed[1].device, wire::kHost);
  const auto together = inputs(row(0, one), row(64, one), 7);
  ASSERT_EQ(together.size(), 1u);
  EXPECT_EQ(together[0].device, 0);
  EXPECT_EQ(inputs(row(0, one), row(64, other), 8).at(0).device, wire::kHost);  // another worker reads the arena
}

TEST(TensorDeathTest, WhatIsKeptAndNotFetchedIsNotRead) {
  const auto arena = data::Arena::make(Bytes::mb(1)).value();
  const data::Block space = *arena->allocate(64);
  const auto kept = std::make_shared<data::Kept>(data::KeptPlace{}, [](const data::KeptPlace&) {});
  const data::Tensor tensor{.info = {"x", DataType::uint8, {64}}, .block = space, .size = 64, .kept = kept};
  EXPECT_DEATH((void)tensor.bytes(), "fetched");
  kept->note_fetched();
  EXPECT_EQ(tensor.bytes().size(), 64u);
}

}  // namespace
}  // namespace sluice::invoker_test
