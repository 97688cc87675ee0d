// Workers on GPUs as the agent uses them: one for each tenant and GPU, functions that leave the device and come back.
// The GPUs are not there (gpu_worker.cpp), everything else is.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "invoker/scene.h"
#include "support/places.h"
#include "worker/process.h"

namespace sluice::invoker_test {
namespace {

constexpr std::uint32_t kSlices = 4;

std::string model_file() {
  return testing::TempDir() + "sluice-gpu-model-" + std::to_string(::getpid());
}

constexpr std::uint32_t kWaits = 0, kOther = 1;

// Functions are numbered by their names.
Application application(const std::string& first) {
  std::ofstream(model_file()) << "its first line\nanother\n";
  const std::string profile = "profile: {table: [[1, 1, 1, 1.0, 0.1]]}";
  const std::string body = str("runtime: torch, model: ", model_file(), ", memory: 1GB, ", profile);
  return application_of(str("application: a\nslo: 1s\nfunctions:\n  ", first, ": {", body, "}\n  yet-another: {", body,
                            "}\n", "workflow: {one: {function: ", first,
                            "}, two: {function: yet-another, after: one}}\n"));
}

class GpuTest : public testing::Test {
 protected:
  static invoker::AgentOptions options() {
    invoker::AgentOptions out;
    out.spawner.worker = test::in_build("tests/invoker/gpu_worker");
    out.spawner.park = false;  // this one cannot be forked
    out.gpus.slices = kSlices;
    for (const char* uuid : {"GPU-first", "GPU-second"}) out.gpus.devices.push_back({.uuid = uuid, .name = "Fake"});
    return out;
  }
  ~GpuTest() override { std::filesystem::remove(model_file()); }
  void begin(const std::string& function) { scene_.emplace(application(function), options()); }
  void load(std::uint64_t instance, std::uint32_t function = 0, std::uint16_t gpu = 0) {
    scene_->act(LoadInstance{.invoker = InvokerId(0),
                             .instance = InstanceId(instance),
                             .application = ApplicationId(0),
                             .function = FunctionId(function),
                             .level = Level::device,
                             .gpu = gpu});
  }
  // A batch of as many rows as requests, on these slices of GPU 0.
  void start(std::uint64_t batch, std::uint64_t slices, std::uint32_t rows = 1) {
    act({.id = BatchId(batch),
         .instance = InstanceId(1),
         .function = FunctionId(0),
         .configuration = configuration(static_cast<int>(rows), 1, 1),
         .positions = {.gpu = 0, .slices = slices},
         .latest = Time::max()});
  }
  // One that begins when batch 1 is over.
  void follow(std::uint64_t batch, std::uint32_t function, Time latest = Time::max()) {
    act({.id = BatchId(batch),
         .instance = InstanceId(function + 1),
         .function = FunctionId(function),
         .configuration = configuration(1, 1, 1),
         .positions = {.gpu = 0, .slices = 1},
         .latest = latest,
         .after = {BatchId(1)}});
  }
  void act(StartBatch start) {
    start.invoker = InvokerId(0);
    start.application = ApplicationId(0);
    for (std::uint32_t r = 0; r < start.configuration.batch; ++r) {
      const RequestId request = scene_->request();
      start.members.push_back({.invocation = InvocationId(request.value()),
                               .request = request,
                               .run = request.value(),
                               .stage = StageId(0)});
    }
    scene_->act(std::move(start));
  }
  [[nodiscard]] Level level(std::uint64_t instance) {
    for (const invoker::WorkerStatus& worker : scene_->agent().workers()) {
      if (worker.instance == InstanceId(instance)) return worker.level;
    }
    return Level::none;
  }
  std::optional<Scene> scene_;
};

std::string environment_of(std::int64_t pid) {
  std::ifstream file(str("/proc/", pid, "/environ"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(GpuTest, FunctionsOfATenantShareAWorkerOnEachGpuAndRunAsManyBatchesAsItHasSlices) {
  begin("one");
  load(1, 0);
  load(2, 1);
  load(3, 0, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scene_->next<InstanceLoaded>()->batches, 2 * kSlices);
  EXPECT_EQ(scene_->pid(1), scene_->pid(2));
  EXPECT_NE(scene_->pid(1), scene_->pid(3));
  EXPECT_EQ(level(1), Level::device);
  const std::string first = environment_of(scene_->pid(1));
  EXPECT_NE(first.find(std::string("CUDA_VISIBLE_DEVICES=GPU-first") + '\0'), std::string::npos);
  EXPECT_NE(environment_of(scene_->pid(3)).find("CUDA_VISIBLE_DEVICES=GPU-second"), std::string::npos);
  for (std::uint32_t i = 0; i < kSlices; ++i) start(i + 1, 1u << i);
  start(9, 1);  // more than it can do
  EXPECT_EQ(scene_->next<BatchFailed>()->id, BatchId(9));
  for (std::uint32_t i = 0; i < kSlices; ++i) EXPECT_EQ(scene_->next<BatchFinished>()->results.at(0).error, "");
}

TEST_F(GpuTest, ABatchBeginsWhenThoseItFollowsAreOver) {
  begin("waits");
  load(1, kWaits);
  load(2, kOther);
  for (int i = 0; i < 2; ++i) (void)scene_->next<InstanceLoaded>();
  start(1, 1);
  follow(2, kOther);
  follow(3, kOther, data::now() + Duration::ms(100));
  EXPECT_EQ(scene_->next<BatchExpired>()->id,
            BatchId(3));  // and the second had as much time to run, were it allowed to
  EXPECT_FALSE(scene_->happened<BatchFinished>());
  follow(4, kOther);
  scene_->act(CancelBatch{.invoker = InvokerId(0), .id = BatchId(4)});
  EXPECT_EQ(scene_->next<BatchFailed>()->id, BatchId(4));  // at once: it has not begun
  scene_->act(CancelBatch{.invoker = InvokerId(0), .id = BatchId(1)});
  EXPECT_EQ(scene_->next<BatchFailed>()->id, BatchId(1));
  const auto finished = scene_->next<BatchFinished>();
  EXPECT_EQ(finished->id, BatchId(2));
  EXPECT_LT(finished->held, Duration::ms(100));  // from when it could begin
  follow(5, kOther);
  EXPECT_EQ(scene_->next<BatchFinished>()->id, BatchId(5));  // what it follows is over already
}

TEST_F(GpuTest, EveryBatchThatRunsMayHaveOneThatFollows) {
  begin("waits");
  load(1, kWaits);
  (void)scene_->next<InstanceLoaded>();
  start(1, 1);
  for (std::uint64_t batch = 2; batch < 2 + kSlices; ++batch) follow(batch, kWaits);
  follow(9, kWaits);  // more than may wait
  EXPECT_EQ(scene_->next<BatchFailed>()->id, BatchId(9));
  for (std::uint64_t slice = 1; slice < kSlices; ++slice) start(10 + slice, 1u << slice);
  start(20, 1);  // more than can run
  EXPECT_EQ(scene_->next<BatchFailed>()->id, BatchId(20));
  EXPECT_EQ(scene_->agent().counters().batches, 0u);
}

TEST_F(GpuTest, TheFirstBatchOfAKindTeachesNothing) {
  begin("one");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  start(1, 1);
  EXPECT_TRUE(scene_->next<BatchFinished>()->first);
  start(2, 1);
  EXPECT_FALSE(scene_->next<BatchFinished>()->first);
}

TEST_F(GpuTest, RowsAreNotCopiedTogether) {
  begin("model");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  start(1, 1, 3);  // each request has a byte of its own
  EXPECT_EQ(scene_->next<BatchFinished>()->results.size(), 3u);
  EXPECT_EQ(scene_->agent().counters().bytes_gathered, 0u);
  ASSERT_FALSE(scene_->lines().empty());
  EXPECT_EQ(scene_->lines().back(), "3 inputs, its first line");  // the model came along as a file that is open
}

TEST_F(GpuTest, AFunctionLeavesItsDeviceAndComesBack) {
  begin("one");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  scene_->lower(1, Level::host);
  EXPECT_EQ(scene_->next<InstanceUnloaded>()->level, Level::host);
  EXPECT_EQ(level(1), Level::host);
  scene_->lower(1, Level::host);  // delivered twice
  load(1);
  const auto loaded = scene_->next<InstanceLoaded>();
  EXPECT_EQ(loaded->level, Level::device);
  EXPECT_EQ(level(1), Level::device);
  start(1, 2);
  EXPECT_EQ(scene_->next<BatchFinished>()->results.at(0).error, "");
  EXPECT_FALSE(scene_->happened<InstanceUnloaded>());
}

TEST_F(GpuTest, WhatIsWantedElsewhereWhileItMovesGoesThereAfterwards) {
  begin("one");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  scene_->lower(1, Level::host);
  load(1);  // before it has left
  EXPECT_EQ(scene_->next<InstanceLoaded>()->level, Level::device);
  start(1, 1);
  EXPECT_EQ(scene_->next<BatchFinished>()->results.at(0).error, "");
}

TEST_F(GpuTest, AFunctionThatIsEvictedWhileItMovesGoesAfterwards) {
  begin("one");
  load(1);
  load(2, 1);
  for (int i = 0; i < 2; ++i) (void)scene_->next<InstanceLoaded>();
  scene_->lower(1, Level::host);
  scene_->lower(1, Level::none);
  const auto gone = scene_->next<InstanceUnloaded>();
  EXPECT_EQ(gone->instance, InstanceId(1));
  EXPECT_EQ(gone->level, Level::none);
  EXPECT_EQ(scene_->agent().workers().size(), 1u);
}

TEST_F(GpuTest, WhatIsNotWantedThereBeforeItIsLoadedGoes) {
  begin("one");
  load(1);
  scene_->lower(1, Level::host);  // its worker is not there yet
  EXPECT_EQ(scene_->next<InstanceUnloaded>()->level, Level::none);
  EXPECT_TRUE(scene_->agent().workers().empty());
}

TEST_F(GpuTest, WhatCannotComeBackStaysOnTheHost) {
  begin("returns-not");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  scene_->lower(1, Level::host);
  (void)scene_->next<InstanceUnloaded>();
  load(1);
  EXPECT_NE(scene_->next<LoadFailed>()->error.find("cannot be put back on its GPU: no memory"), std::string::npos);
  EXPECT_EQ(scene_->agent().loaded(InvokerId(0)).at(0).level, Level::host);
}

TEST_F(GpuTest, AWorkerThatCannotTakeAFunctionOffItsGpuIsLost) {
  begin("stays");
  load(1);
  load(2, 1);
  for (int i = 0; i < 2; ++i) (void)scene_->next<InstanceLoaded>();
  scene_->lower(1, Level::host);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(scene_->next<InstanceUnloaded>()->level, Level::none);
  EXPECT_EQ(scene_->agent().counters().crashes, 1u);
}

TEST_F(GpuTest, AFunctionThatIsLargerThanItSaysIsRefusedAndTheOthersStay) {
  begin("large");
  load(2, 1);
  (void)scene_->next<InstanceLoaded>();
  load(1);
  EXPECT_EQ(scene_->next<LoadFailed>()->error,
            "LoadFailed: function 'large' cannot be loaded: its weights take 2GB of the GPU, and `memory:` says 1GB");
  (void)scene_->next<InstanceUnloaded>();
  ASSERT_EQ(scene_->agent().workers().size(), 1u);
  EXPECT_EQ(scene_->agent().workers()[0].instance, InstanceId(2));
  EXPECT_EQ(scene_->agent().counters().crashes, 0u);
}

TEST_F(GpuTest, FunctionsHaveProcessesOfTheirOwnWhereTheDriverSharesTime) {
  invoker::AgentOptions apart = options();
  apart.gpus.mode = GpuMode::none;
  scene_.emplace(application("f"), apart);
  load(1);
  load(2, 1);
  (void)scene_->next<InstanceLoaded>();
  (void)scene_->next<InstanceLoaded>();
  const auto workers = scene_->agent().workers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_NE(workers[0].pid, workers[1].pid);
}

TEST_F(GpuTest, AFormThatWasFoundBeforeIsNotLookedForAgain) {
  const auto seen = [this] { return scene_->agent().workers().at(0).form; };
  begin("f");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  EXPECT_FALSE(seen().rows_apart);  // it was told no form
  invoker::AgentOptions again = options();
  again.forms[{"default", code_of(application("f").functions[0])}] = seen();
  scene_.emplace(application("f"), again);
  load(1);
  (void)scene_->next<InstanceLoaded>();
  EXPECT_TRUE(seen().rows_apart);  // it was
}

TEST_F(GpuTest, CountsWhatAGpuDoes) {
  begin("by-kernel");
  load(1);
  (void)scene_->next<InstanceLoaded>();
  for (const std::uint64_t batch : {1u, 2u}) {
    start(batch, 0b110);
    (void)scene_->next<BatchFinished>();
  }
  const invoker::GpuCounters& gpu = scene_->agent().counters().gpus[0];
  EXPECT_EQ(gpu.batches, 2u);
  EXPECT_EQ(gpu.captures, 1u);
  EXPECT_EQ(gpu.loads, 1u);
  EXPECT_EQ(gpu.busy_ns[0], 0u);
  EXPECT_EQ(gpu.busy_ns[1], 2'000u);
  EXPECT_EQ(gpu.busy_ns[2], 2'000u);
  EXPECT_GT(gpu.bytes_in, 0u);
  EXPECT_EQ(gpu.bytes_in, gpu.bytes_out);
  EXPECT_EQ(scene_->agent().counters().gpus[1].batches, 0u);
  const invoker::WorkerStatus worker = scene_->agent().workers().at(0);
  EXPECT_EQ(worker.graphs, (GraphUse{.kept = 3, .captured = false, .never = true}));
}

TEST_F(GpuTest, AFormThatAnotherTenantFoundIsLookedForAgain) {
  invoker::AgentOptions known = options();
  known.forms[{"another", code_of(application("f").functions[0])}] = {Precision::bf16, MemoryLayout::channels_first};
  scene_.emplace(application("f"), known);
  load(1);
  (void)scene_->next<InstanceLoaded>();
  EXPECT_FALSE(scene_->agent().workers().at(0).form.rows_apart);  // it was told none
}

TEST(GpuForms, SurviveAsText) {
  const invoker::GpuForms forms{{{"a", 7}, {Precision::fp16, MemoryLayout::channels_last, true, true}},
                                {{"b", ~FunctionVersion{0}}, {Precision::fp32, MemoryLayout::channels_first}}};
  EXPECT_EQ(invoker::gpu_forms_of(invoker::to_text(forms)), forms);
  EXPECT_TRUE(invoker::gpu_forms_of("a 7 fp16\na x fp16 channels_last 0 0\na 8 best channels_last 0 0\n"
                                    "a 9 fp99 channels_first 0 0\na 9 fp16 channels_first 2 0\n")
                  .empty());
}

TEST(GpuForms, AgreeWithWhatADocumentLeavesOpen) {
  const GpuForm found{Precision::fp16, MemoryLayout::channels_last};
  EXPECT_TRUE(found.agrees_with({}));
  EXPECT_TRUE(found.agrees_with({Precision::fp16, MemoryLayout::best}));
  EXPECT_FALSE(found.agrees_with({Precision::fp32, MemoryLayout::best}));
  EXPECT_FALSE(found.agrees_with({Precision::best, MemoryLayout::channels_first}));
}

// Who is forked has the environment of its parent, and what its orders say.
TEST(GpuSpawning, AWorkerFromTheParkedParentHasTheVariablesOfItsGpu) {
  invoker::Spawner::Options options;
  options.worker = test::in_build("sluice-worker");
  options.park = true;
  invoker::Spawner spawner(options);
  auto process = spawner.spawn({.runtime = Runtime::torch}, "default", [](pid_t) {}, {"SLUICE_GIVEN=a GPU"});
  ASSERT_TRUE(process.ok()) << process.error().message;
  test::Server server(process->channel);
  const Body body{.runtime = Runtime::process,
                  .command = {"sh", "-c", R"(read line; echo "{\"y\": \"$SLUICE_GIVEN\"}" >&3)"}};
  ASSERT_EQ(server.load(body, {}, {{"y", DataType::bytes, {1}, {}}}).error, "");
  const auto ran = server.run({});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_NE(server.bytes(ran.outputs[0]).find("a GPU"), std::string::npos);
  server.send(wire::Stop{});
}

}  // namespace
}  // namespace sluice::invoker_test
