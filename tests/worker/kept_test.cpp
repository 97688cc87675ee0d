// Outputs that a worker keeps on its GPU: what is asked for is there, what is not is refused, and nothing is forgotten.
// The GPU is not there (tests/invoker/gpu_worker.cpp): what it keeps is in memory of its own, and the arena has
// rubbish.
#include <gtest/gtest.h>

#include <algorithm>

#include "domain/limits.h"
#include "wire/confinement.h"
#include "worker/kept_outputs.h"
#include "worker/process.h"

namespace sluice::test {
namespace {

constexpr std::int64_t kLarge = 1'200'000;    // bytes of a row
constexpr std::size_t kKeptMost = 8'000'000;  // by that worker
constexpr std::int64_t kArena = 64 << 20;

class KeptTest : public testing::Test {
 protected:
  KeptTest() {
    EXPECT_TRUE(process_.channel().send(wire::encode(wire::Confinement{})).ok());
    server_.send(wire::Hello{.arena_bytes = server_.arena().capacity(), .lanes = 4, .slices = 4, .pinned = true},
                 {server_.arena().descriptor()});
    server_.send(wire::Load{.function = 1, .name = "adds-one", .body = {.runtime = Runtime::emulated}, .device = 0});
    EXPECT_EQ(server_.next<wire::Loaded>().error, "");
  }
  // A batch of the one function, whose output is as large as its input.
  wire::Ran run(std::vector<wire::Placed> inputs, std::uint32_t rows = 1, bool keep = true) {
    std::size_t bytes = 0;
    for (const wire::Placed& input : inputs) bytes += input.size + data::Arena::kAlignment;
    return server_.run({.function = 1,
                        .rows = rows,
                        .positions = {0, 1},
                        .inputs = std::move(inputs),
                        .outputs = server_.space(bytes),
                        .keep = keep});
  }
  wire::Placed input(std::int64_t bytes, char value = 'a', std::uint32_t rows = 1) {
    return server_.put({"x", DataType::uint8, {rows, bytes}},
                       std::string(static_cast<std::size_t>(bytes) * rows, value));
  }
  wire::Fetched fetch(std::uint64_t offset) {
    server_.send(wire::Fetch{offset});
    auto fetched = server_.next<wire::Fetched>();
    EXPECT_EQ(fetched.offset, offset);
    return fetched;
  }
  // That all of it is this one byte.
  bool is(const wire::Placed& placed, char value) {
    return std::ranges::all_of(server_.bytes(placed), [&](char byte) { return byte == value; });
  }

  Process process_{{in_build("tests/invoker/gpu_worker"), "--confined"}};
  Server server_{process_.channel(), kArena};
};

TEST_F(KeptTest, StayOnTheDeviceWhereThatIsAskedForAndAreReadThere) {
  const auto first = run({input(kLarge)}).outputs.at(0);
  EXPECT_EQ(first.device, 0);
  EXPECT_FALSE(is(first, 'b'));  // nothing was copied
  const auto second = run({first}, 1, false).outputs.at(0);
  EXPECT_EQ(second.device, wire::kHost);
  EXPECT_TRUE(is(second, 'c'));
}

TEST_F(KeptTest, AreCopiedOutWhereTheyAreSmallOrNotAskedFor) {
  const auto small = run({input(static_cast<std::int64_t>(limits::kept_bytes_min))}).outputs.at(0);
  EXPECT_EQ(small.device, wire::kHost);
  EXPECT_TRUE(is(small, 'b'));
  EXPECT_EQ(run({input(kLarge)}, 1, false).outputs.at(0).device, wire::kHost);
}

TEST_F(KeptTest, AreFetchedAsOftenAsOneLikes) {
  const auto output = run({input(kLarge)}).outputs.at(0);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(fetch(output.offset).error, "");
    EXPECT_TRUE(is(output, 'b'));
  }
  EXPECT_TRUE(is(run({output}, 1, false).outputs.at(0), 'c'));  // it is still there
}

TEST_F(KeptTest, ARowOfThemIsReadByItself) {
  auto rows = input(kLarge, 'a', 2);
  std::fill_n(reinterpret_cast<char*>(server_.arena().base() + rows.offset + kLarge), kLarge, 'k');
  auto second = run({rows}, 2).outputs.at(0);
  second.info.shape = {1, kLarge};
  second.offset += kLarge;
  second.size = kLarge;
  EXPECT_TRUE(is(run({second}, 1, false).outputs.at(0), 'm'));
}

TEST_F(KeptTest, WhatIsNotThereIsRefusedAndTheWorkerGoesOn) {
  const auto refused = [&](wire::Placed wrong) { return run({std::move(wrong)}).error; };
  auto output = run({input(kLarge)}).outputs.at(0);
  for (const auto& [offset, size] :
       {std::pair{output.offset - 64, output.size}, std::pair{output.offset + 64, output.size},
        std::pair{~std::uint64_t{0}, output.size}, std::pair{output.offset, ~std::uint64_t{0}}}) {
    auto beside = output;
    beside.offset = offset;
    beside.size = size;
    EXPECT_NE(server_.run({.function = 1, .positions = {0, 1}, .inputs = {beside}}).error.find("nothing is kept"),
              std::string::npos);
  }
  auto other = output;
  other.device = 1;
  EXPECT_NE(refused(other).find("nothing is kept"), std::string::npos);
  other = output;
  other.info.shape = {1, kLarge - 1};
  EXPECT_NE(refused(other).find("in another size than its shape"), std::string::npos);
  EXPECT_EQ(fetch(output.offset + 64).error, "nothing is kept under this place");
  EXPECT_EQ(fetch(0).error, "nothing is kept under this place");
  server_.send(wire::Release{output.offset});
  EXPECT_EQ(fetch(output.offset).error, "nothing is kept under this place");
  EXPECT_NE(refused(output).find("nothing is kept"), std::string::npos);
  EXPECT_EQ(run({input(kLarge)}).error, "");
}

TEST_F(KeptTest, AReleaseOfNothingEndsTheWorker) {
  const auto output = run({input(kLarge)}).outputs.at(0);
  server_.send(wire::Release{output.offset});
  server_.send(wire::Release{output.offset});
  EXPECT_TRUE(server_.closed());
  EXPECT_EQ(process_.exit_status(), 1);
}

TEST_F(KeptTest, AreCopiedOutOnceThereIsNoRoomForMoreAndHaveItAgainAfterARelease) {
  std::vector<wire::Placed> kept;
  while (kept.size() <= kKeptMost / kLarge) {
    auto ran = run({input(kLarge)});
    ASSERT_EQ(ran.error, "");
    if (ran.outputs.at(0).device == wire::kHost) break;
    kept.push_back(ran.outputs.at(0));
  }
  EXPECT_EQ(kept.size(), kKeptMost / kLarge);
  const auto beyond = run({kept.front()}).outputs.at(0);
  EXPECT_EQ(beyond.device, wire::kHost);
  EXPECT_TRUE(is(beyond, 'c'));
  server_.send(wire::Release{kept.front().offset});
  EXPECT_EQ(fetch(kept.back().offset).error, "");  // by the thread that has given the other one's memory back
  EXPECT_EQ(run({kept.back()}).outputs.at(0).device, 0);
}

TEST_F(KeptTest, OutliveTheFunctionThatMadeThem) {
  const auto output = run({input(kLarge)}).outputs.at(0);
  server_.send(wire::Unload{1});
  EXPECT_EQ(server_.next<wire::Unloaded>().function, 1u);
  EXPECT_EQ(fetch(output.offset).error, "");
  EXPECT_TRUE(is(output, 'b'));
}

TEST_F(KeptTest, SpaceThatIsThatOfAnotherIsRefused) {
  const auto output = run({input(kLarge)}).outputs.at(0);
  const auto again = server_.run({.function = 1,
                                  .positions = {0, 1},
                                  .inputs = {input(kLarge)},
                                  .outputs = {output.offset, output.size},
                                  .keep = true});
  EXPECT_EQ(again.error, "the space for outputs is that of something that is kept");
  EXPECT_TRUE(is(run({output}, 1, false).outputs.at(0), 'c'));
}

TEST(WorkerOnCpus, KeepsNothing) {
  Process process;
  Server server{process.channel()};
  EXPECT_EQ(server.load({.runtime = Runtime::emulated}).error, "");
  server.send(wire::Fetch{64});
  EXPECT_EQ(server.next<wire::Fetched>().error, "this worker has no device");
  server.send(wire::Release{64});
  EXPECT_TRUE(server.closed());
}

class Nothing : public engine::KeptOutput {
 public:
  [[nodiscard]] std::uintptr_t address() const override { return 0; }
  [[nodiscard]] Status copy_to(std::span<std::byte>) const override { return Done{}; }
};

TEST(KeptOutputs, AreFoundByWhatLiesInsideOfThemAndNeverOverlap) {
  worker::KeptOutputs kept;
  const auto output = std::make_shared<const Nothing>();
  EXPECT_TRUE(kept.add({100, 50}, output));
  for (const wire::Space taken : {wire::Space{100, 50}, {90, 11}, {149, 1}, {120, 5}, {0, ~std::uint64_t{0}}})
    EXPECT_FALSE(kept.add(taken, output)) << taken.offset;
  EXPECT_TRUE(kept.add({150, 10}, output));
  EXPECT_TRUE(kept.add({90, 10}, output));
  EXPECT_EQ(kept.holding({110, 40}).within, 10u);
  EXPECT_EQ(kept.holding({110, 41}).output, nullptr);
  EXPECT_EQ(kept.holding({99, 2}).output, nullptr);
  EXPECT_EQ(kept.holding({110, ~std::uint64_t{0}}).output, nullptr);
  EXPECT_EQ(kept.at(110).output, nullptr);
  EXPECT_EQ(kept.at(100).size, 50u);
  EXPECT_NE(kept.take(100), nullptr);
  EXPECT_EQ(kept.take(100), nullptr);
}

TEST(KeptBudget, IsOneHundredthOfAGpuAndAtMostAGibibyte) {
  EXPECT_EQ(engine::KeptBudget::part_of(Bytes::gb(50)), Bytes::mb(500));
  EXPECT_EQ(engine::KeptBudget::part_of(Bytes::gb(150)), Bytes(1 << 30));
  engine::KeptBudget budget(Bytes(10));
  {
    const auto most = budget.take(9);
    EXPECT_TRUE(most && !budget.take(2) && budget.take(1));
  }
  EXPECT_TRUE(budget.take(10));
}

}  // namespace
}  // namespace sluice::test
