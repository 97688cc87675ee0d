// A worker process that holds several functions and runs several batches at once.
#include <gtest/gtest.h>

#include <set>

#include "worker/process.h"

namespace sluice::test {
namespace {

const Body kEmulated{.runtime = Runtime::emulated};

struct Worker {
  Process process;
  Server server{process.channel()};
  explicit Worker(std::uint32_t lanes) { server.hello(lanes); }

  void load(std::uint32_t function, std::vector<Port> outputs = {}) {
    const auto loaded =
        server.load({.function = function, .name = "f", .body = kEmulated, .outputs = std::move(outputs)});
    EXPECT_EQ(loaded.error, "");
  }
  void run(std::uint64_t batch, std::uint32_t function, Duration emulated, SlicePositions positions = {}) {
    server.send(wire::Run{.batch = batch,
                          .function = function,
                          .emulated = emulated,
                          .positions = positions,
                          .outputs = server.space(4096)});
  }
  wire::Ran next() { return server.next<wire::Ran>(); }
};

TEST(WorkerLanes, SayHowManyBatchesOfAFunctionCanRunAtOnce) {
  Worker one(1), eight(8);
  EXPECT_EQ(one.server.load(kEmulated).batches, 1u);
  EXPECT_EQ(eight.server.load(kEmulated).batches, 8u);
}

TEST(WorkerLanes, RunBatchesOfSeveralFunctionsAtOnce) {
  Worker worker(8);
  for (const std::uint32_t function : {1u, 2u, 3u}) worker.load(function);
  // The last one is the shortest: it is answered first only if nobody waits for another.
  for (std::uint64_t batch = 1; batch <= 8; ++batch) {
    worker.run(batch, static_cast<std::uint32_t>(1 + batch % 3), batch == 8 ? Duration::ms(1) : Duration::s(1));
  }
  EXPECT_EQ(worker.next().batch, 8u);
  std::set<std::uint64_t> rest;
  for (int i = 0; i < 7; ++i) rest.insert(worker.next().batch);
  EXPECT_EQ(rest.size(), 7u);
}

TEST(WorkerLanes, GiveAGrantToTheBatchThatAskedForIt) {
  Worker worker(4);
  worker.load(1, {{"x", DataType::uint8, {100}}});
  for (const std::uint64_t batch : {1u, 2u, 3u}) worker.server.send(wire::Run{.batch = batch, .function = 1});
  std::map<std::uint64_t, wire::Space> granted;
  for (int i = 0; i < 3; ++i) granted[worker.server.next<wire::Wanted>().batch] = worker.server.space(100);
  EXPECT_EQ(granted.size(), 3u);
  for (auto it = granted.rbegin(); it != granted.rend(); ++it) worker.server.send(wire::Grant{it->first, it->second});
  for (int i = 0; i < 3; ++i) {
    const auto ran = worker.next();
    ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
    EXPECT_EQ(ran.outputs[0].offset, granted[ran.batch].offset);
  }
}

TEST(WorkerLanes, StopABatchOfAnEmulatedFunctionThatIsCancelled) {
  for (const std::uint32_t lanes : {1u, 2u}) {
    Worker worker(lanes);
    worker.load(1);
    worker.run(1, 1, Duration::s(60));
    worker.server.send(wire::Cancel{1});
    const auto ran = worker.next();
    EXPECT_EQ(ran.batch, 1u);
    EXPECT_TRUE(ran.cancelled);
    worker.run(2, 1, Duration{});
    EXPECT_FALSE(worker.next().cancelled);
  }
}

TEST(WorkerLanes, DoNotBeginABatchThatIsCancelledWhileItWaits) {
  for (const std::uint32_t lanes : {1u, 2u}) {
    Worker worker(lanes);
    worker.load(1);
    for (std::uint64_t batch = 1; batch <= lanes; ++batch) worker.run(batch, 1, Duration::s(60));
    worker.run(7, 1, Duration{});  // waits
    worker.server.send(wire::Cancel{7});
    const auto ran = worker.next();
    EXPECT_EQ(ran.batch, 7u);
    EXPECT_TRUE(ran.cancelled);
    for (std::uint64_t batch = 1; batch <= lanes; ++batch) worker.server.send(wire::Cancel{batch});
    for (std::uint64_t batch = 1; batch <= lanes; ++batch) EXPECT_TRUE(worker.next().cancelled);
    worker.server.send(wire::Cancel{7});  // that was long ago
    worker.run(8, 1, Duration{});
    EXPECT_EQ(worker.next().batch, 8u);
  }
}

TEST(WorkerLanes, UnloadAFunctionAfterItsLastBatch) {
  for (const std::uint32_t lanes : {1u, 4u}) {
    Worker worker(lanes);
    worker.load(1);
    worker.load(2);
    worker.run(1, 1, Duration::ms(50));
    worker.server.send(wire::Unload{1});
    EXPECT_EQ(worker.next().batch, 1u);
    EXPECT_EQ(worker.server.next<wire::Unloaded>().function, 1u);
    worker.load(1);  // its number is free again
    worker.run(2, 2, Duration{});
    EXPECT_EQ(worker.next().batch, 2u);
  }
}

TEST(WorkerLanes, RefuseSlicesThatAnotherBatchHas) {
  Worker worker(4);
  worker.load(1);
  worker.run(1, 1, Duration::s(60), {.gpu = 0, .slices = 0b0011});
  worker.run(2, 1, Duration{}, {.gpu = 0, .slices = 0b0110});
  EXPECT_EQ(worker.next().error, "its slices of GPU 0 are those of batch 1");
  worker.run(3, 1, Duration{}, {.gpu = 0, .slices = 0b1100});
  EXPECT_EQ(worker.next().error, "");
  worker.run(4, 1, Duration{}, {.gpu = 1, .slices = 0b0011});
  EXPECT_EQ(worker.next().error, "");
  worker.server.send(wire::Cancel{1});
  EXPECT_TRUE(worker.next().cancelled);
  worker.run(5, 1, Duration{}, {.gpu = 0, .slices = 0b0110});
  EXPECT_EQ(worker.next().error, "");
}

// A program answers one line after the other: two batches at once have two programs.
TEST(WorkerLanes, SayThatWhatIsOnNoDeviceCannotBeMoved) {
  for (const std::uint32_t lanes : {1u, 4u}) {
    Worker worker(lanes);
    worker.load(1);
    worker.server.send(wire::Move{1, Level::host});
    EXPECT_EQ(worker.server.next<wire::Moved>().error, "it is on no device");
  }
}

// With a GPU a position has a thread of its own, which takes its batches one after the other.
TEST(WorkerLanes, RunBatchesOfPositionsAtOnce) {
  Process process;
  Server server{process.channel()};
  server.hello(1, 7);
  EXPECT_EQ(server.load({.function = 1, .name = "f", .body = kEmulated}).error, "");
  for (const std::uint64_t position : {1u, 2u, 4u, 8u}) {
    server.send(wire::Run{.batch = position,
                          .function = 1,
                          .emulated = position == 8 ? Duration::ms(1) : Duration::s(1),
                          .positions = {0, position},
                          .outputs = server.space(4096)});
  }
  EXPECT_EQ(server.next<wire::Ran>().batch, 8u);
  std::set<std::uint64_t> rest;
  for (int i = 0; i < 3; ++i) rest.insert(server.next<wire::Ran>().batch);
  EXPECT_EQ(rest, (std::set<std::uint64_t>{1, 2, 4}));
}

TEST(WorkerLanes, RefuseAFunctionForAGpuThatItsRuntimeCannotUse) {
  Process process;
  Server server{process.channel()};
  server.hello(1, 7);
  const Body program{.runtime = Runtime::process, .command = {"sh"}};
  EXPECT_EQ(server.load({.function = 1, .name = "f", .body = program, .device = 0}).error,
            "functions of runtime process run on CPUs only");
  EXPECT_EQ(server.load({.function = 1, .name = "f", .body = kEmulated, .device = 0}).error, "");
}

TEST(WorkerLanes, GiveBatchesOfAProgramThatRunAtOnceOneEach) {
  Worker worker(2);
  const Body body{.runtime = Runtime::process,
                  .command = {"sh", "-c", "while read line; do sleep 0.2; echo '{\"pid\": '$$'}' >&3; done"}};
  ASSERT_EQ(worker.server.load({.function = 1, .name = "f", .body = body}).error, "");
  std::set<std::string> programs;
  worker.run(1, 1, {});
  worker.run(2, 1, {});
  for (int i = 0; i < 2; ++i) {
    const auto ran = worker.next();
    ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
    programs.insert(worker.server.bytes(ran.outputs[0]));
  }
  EXPECT_EQ(programs.size(), 2u);
}

TEST(WorkerLanes, EndWithWhatTheyRun) {
  Worker worker(4);
  worker.load(1, {{"x", DataType::uint8, {100}}});
  worker.run(1, 1, Duration::s(60));
  worker.server.send(wire::Run{.batch = 2, .function = 1});
  (void)worker.server.next<wire::Wanted>();
  worker.server.send(wire::Stop{});
  EXPECT_EQ(worker.process.exit_status(), 0);
}

}  // namespace
}  // namespace sluice::test
