#include <gtest/gtest.h>

#include "worker/process.h"

namespace sluice::test {
namespace {

const Body kEmulated{.runtime = Runtime::emulated};

TEST(EmulatedWorker, LeavesZerosOfTheDeclaredOutputs) {
  Process process;
  Server server(process.channel());
  ASSERT_EQ(server.load(kEmulated, {}, {{"scores", DataType::fp32, {2, -1}}, {"label", DataType::bytes, {1}}}).error,
            "");
  const auto space = server.space(256);
  std::memset(server.arena().base() + space.offset, 0xff, space.size);
  const auto ran = server.run({.rows = 3, .outputs = space});
  ASSERT_EQ(ran.error, "");
  ASSERT_EQ(ran.outputs.size(), 2u);
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"scores", DataType::fp32, {3, 2, 1}}));
  EXPECT_EQ(server.bytes(ran.outputs[0]), std::string(24, '\0'));
  EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"label", DataType::bytes, {3, 1}}));
  EXPECT_EQ(server.bytes(ran.outputs[1]), texts({"", "", ""}));
  for (const wire::Placed& output : ran.outputs) {
    EXPECT_EQ(output.row, wire::kAllRows);
    EXPECT_GE(output.offset, space.offset);
    EXPECT_LE(output.offset + output.size, space.offset + space.size);
  }
}

TEST(EmulatedWorker, HandsItsInputsOnWhereNothingIsDeclared) {
  Process process;
  Server server(process.channel());
  ASSERT_EQ(server.load(kEmulated).error, "");
  const auto all = server.put({"x", DataType::int32, {2}}, raw<std::int32_t>({7, -8}));
  const auto one = server.put({"y", DataType::bytes, {}}, texts({"text"}), 1);
  const auto ran = server.run({.rows = 2, .inputs = {all, one}});
  ASSERT_EQ(ran.outputs.size(), 2u);
  EXPECT_EQ(ran.outputs[0].info, all.info);
  EXPECT_EQ(values_of<std::int32_t>(server.bytes(ran.outputs[0])), (std::vector{7, -8}));
  EXPECT_EQ(ran.outputs[1].info, one.info);
  EXPECT_EQ(ran.outputs[1].row, 1);
  EXPECT_EQ(server.bytes(ran.outputs[1]), texts({"text"}));
  EXPECT_NE(ran.outputs[0].offset, all.offset);
}

TEST(EmulatedWorker, TakesAsLongAsTheBatchSays) {
  Process process;
  Server server(process.channel());
  ASSERT_EQ(server.load(kEmulated).error, "");
  EXPECT_GE(server.run({.emulated = Duration::ms(20)}).took, Duration::ms(20));
}

}  // namespace
}  // namespace sluice::test
