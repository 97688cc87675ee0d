// What goes between server and worker around the run of a batch, and what a worker makes of messages that make no
// sense.
#include <gtest/gtest.h>

#include "domain/limits.h"
#include "worker/process.h"

namespace sluice::test {
namespace {

const Body kEmulated{.runtime = Runtime::emulated};

struct Loaded {
  Process process;
  Server server{process.channel()};
  explicit Loaded(std::vector<Port> outputs = {}) {
    EXPECT_EQ(server.load(kEmulated, {}, std::move(outputs)).error, "");
  }
};

TEST(Worker, EndsWhenItIsToldTo) {
  Loaded worker;
  worker.server.send(wire::Stop{});
  EXPECT_TRUE(worker.server.closed());
  EXPECT_EQ(worker.process.exit_status(), 0);
}

TEST(Worker, EndsWhenTheServerIsGone) {
  Loaded worker;
  EXPECT_EQ(worker.process.exit_status(), 0);
}

TEST(Worker, AsksForMoreSpaceAndWritesThere) {
  Loaded worker({{"x", DataType::uint8, {100}}});
  Server& server = worker.server;
  server.send(wire::Run{.batch = 7, .rows = 2, .outputs = server.space(10)});
  const auto wanted = server.next<wire::Wanted>();
  EXPECT_EQ(wanted.batch, 7u);
  EXPECT_EQ(wanted.bytes, 200u);
  const auto space = server.space(wanted.bytes);
  server.send(wire::Grant{7, space});
  const auto ran = server.next<wire::Ran>();
  EXPECT_EQ(ran.error, "");
  ASSERT_EQ(ran.outputs.size(), 1u);
  EXPECT_EQ(ran.outputs[0].offset, space.offset);
}

TEST(Worker, FailsTheBatchAndGoesOnWhereNoSpaceIsGranted) {
  Loaded worker({{"x", DataType::uint8, {100}}});
  Server& server = worker.server;
  for (const wire::Space space :
       {wire::Space{}, wire::Space{0, 99}, wire::Space{1 << 20, 100}, wire::Space{~0ull, 100}}) {
    server.send(wire::Run{.batch = 7, .outputs = {}});
    (void)server.next<wire::Wanted>();
    server.send(wire::Grant{7, space});
    EXPECT_EQ(server.next<wire::Ran>().error, "there is no room for outputs of 100 bytes");
  }
  EXPECT_EQ(server.run({}).error, "");
}

TEST(Worker, EndsWhenTheServerStopsItWhileItWaits) {
  Loaded worker({{"x", DataType::uint8, {100}}});
  worker.server.send(wire::Run{.batch = 7, .outputs = {}});
  (void)worker.server.next<wire::Wanted>();
  worker.server.send(wire::Stop{});
  EXPECT_TRUE(worker.server.closed());
  EXPECT_EQ(worker.process.exit_status(), 0);
}

TEST(Worker, RefusesInputsThatAreNotWhatTheySay) {
  Loaded worker;
  Server& server = worker.server;
  const auto capacity = static_cast<std::uint64_t>(server.arena().capacity());
  const auto refused = [&](wire::Placed input, std::uint32_t rows = 1) {
    return server.run({.rows = rows, .inputs = {std::move(input)}}).error;
  };
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, 8}}, -1, capacity - 7, 8}),
            "input `x` is outside of the shared memory");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, 8}}, -1, ~0ull - 3, 8}), "input `x` is outside of the shared memory");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, 8}}, -1, 0, ~0ull}), "input `x` is outside of the shared memory");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, 8}}, -1, 0, 9}),
            "input `x` has 9 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, -8}}, -1, 0, 8}),
            "input `x` has 8 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::fp64, {1, 1ll << 61}}, -1, 0, 0}),
            "input `x` has 0 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::bytes, {1}}, -1, 0, 3}), "input `x` has 3 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::uint8, {3}}, -1, 0, 3}, 2), "input `x` does not have the 2 rows of the batch");
  EXPECT_EQ(refused({{"x", DataType::uint8, {}}, -1, 0, 1}), "input `x` does not have the 1 rows of the batch");
  EXPECT_EQ(refused({{"x", DataType::uint8, {}}, 2, 0, 1}, 2), "input `x` is of row 2 of 2");
  EXPECT_EQ(refused({{"x", DataType::uint8, {}}, -2, 0, 1}, 2), "input `x` is of row -2 of 2");
  EXPECT_EQ(refused({{"x", DataType::uint8, std::vector<std::int64_t>(18, 1)}, -1, 0, 1}),
            "input `x` has too many dimensions");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1}}, -1, capacity - 1, 1}), "");
}

TEST(Worker, RefusesSpaceForOutputsThatIsNotThere) {
  Loaded worker;
  for (const wire::Space space : {wire::Space{1 << 20, 1}, wire::Space{~0ull, 2}, wire::Space{1, ~0ull}}) {
    EXPECT_EQ(worker.server.run({.outputs = space}).error, "the space for outputs is outside of the shared memory");
  }
}

TEST(Worker, RefusesBatchesOfNoneOrTooManyRows) {
  Loaded worker;
  EXPECT_EQ(worker.server.run({.rows = 0}).error, "a batch has 0 rows, it may have 1 to 4096");
  EXPECT_EQ(worker.server.run({.rows = limits::batch_max + 1}).error, "a batch has 4097 rows, it may have 1 to 4096");
}

TEST(Worker, RefusesInputsOnADevice) {
  Loaded worker;
  wire::Placed x = worker.server.put({"x", DataType::uint8, {1, 8}}, "12345678");
  x.device = 0;
  EXPECT_EQ(worker.server.run({.inputs = {x}}).error, "input `x` is on device 0, and this worker has none");
}

TEST(Worker, EndsWhereItCannotServeAtAll) {
  const auto ended = [](wire::Hello hello, bool with_memory) {
    Process process;
    Server server(process.channel());
    std::vector<int> memory;
    if (with_memory) memory.push_back(server.arena().descriptor());
    server.send(hello, memory);
    EXPECT_TRUE(server.closed());
    return process.exit_status();
  };
  EXPECT_EQ(ended({.version = 9}, true), 1);
  EXPECT_EQ(ended({.arena_bytes = 64}, false), 1);
  EXPECT_EQ(ended({.arena_bytes = 2 << 20}, true), 1);
  EXPECT_EQ(ended({.lanes = 0}, true), 1);
  EXPECT_EQ(ended({.lanes = wire::lanes_max + 1}, true), 1);
}

TEST(Worker, GoesOnAfterALoadThatFailed) {
  Process process;
  Server server(process.channel());
  const auto refused = [&](wire::Load load) { return server.load(std::move(load)).error; };
  EXPECT_EQ(refused({.body = {.runtime = Runtime::python}}),
            "a function of runtime python runs in an interpreter of its own");
  EXPECT_EQ(refused({.body = {.runtime = Runtime::kernel}}), "this worker has no runtime kernel");
  EXPECT_EQ(refused({.body = kEmulated, .device = 3}), "this worker runs on CPUs only, device 3 was asked for");
  EXPECT_EQ(refused({.body = kEmulated}), "");
  EXPECT_EQ(server.run({}).error, "");
}

TEST(Worker, EndsWhenTheServerBreaksTheProtocol) {
  for (const std::uint32_t lanes : {1u, 4u}) {
    const auto broken = [&](const wire::ToWorker& message) {
      Process process;
      Server server(process.channel());
      server.hello(lanes);
      EXPECT_EQ(server.load(kEmulated).error, "");
      server.send(message);
      EXPECT_TRUE(server.closed());
      return process.exit_status();
    };
    EXPECT_EQ(broken(wire::Grant{}), 1);
    EXPECT_EQ(broken(wire::Hello{}), 1);
    EXPECT_EQ(broken(wire::Load{.body = kEmulated}), 1);
    EXPECT_EQ(broken(wire::Unload{.function = 1}), 1);
    EXPECT_EQ(broken(wire::Run{.function = 1}), 1);
  }
  Process early;
  Server(early.channel()).send(wire::Run{});
  EXPECT_EQ(early.exit_status(), 1);
  Process rubbish;
  ASSERT_TRUE(rubbish.channel().send("rubbish").ok());
  EXPECT_EQ(rubbish.exit_status(), 1);
}

TEST(Worker, SurvivesCtrlC) {
  Loaded worker;
  worker.process.signal(SIGINT);
  EXPECT_EQ(worker.server.run({}).error, "");
}

TEST(Worker, DoesNotStartOnSomethingThatIsNoSocket) {
  EXPECT_EQ(Process({worker_program(), "--sockets"}).exit_status(), 1);
  EXPECT_EQ(Process({worker_program(), "--socket", "77"}).exit_status(), 1);
}

}  // namespace
}  // namespace sluice::test
