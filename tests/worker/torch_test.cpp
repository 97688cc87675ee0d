// Functions that are TorchScript. Left out where there is no libtorch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "worker/parked.h"
#include "worker/process.h"

namespace sluice::test {
namespace {

// A model that goes with the test.
class Model {
 public:
  explicit Model(const std::string& script) {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-XXXXXX").string();
    ::close(::mkstemp(name.data()));
    path_ = name;
    static Process maker({in_build("tests/worker/make_model")});
    EXPECT_TRUE(maker.channel().send(path_ + "\n" + script).ok());
    EXPECT_TRUE(next_message(maker.channel()).has_value()) << script;
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { std::filesystem::remove(path_); }
  [[nodiscard]] Body body() const { return {.runtime = Runtime::torch, .model = path_}; }

 private:
  std::string path_;
};

// In a worker that was forked: loading libtorch takes long.
struct Torch {
  Parked::Worker worker = parked().fork();
  Server server{worker.channel};
  explicit Torch(const std::string& script, std::vector<Port> inputs = {}, std::vector<Port> outputs = {}) {
    EXPECT_EQ(server.load(Model(script).body(), std::move(inputs), std::move(outputs)).error, "");
  }
  wire::Placed floats(const std::string& name, std::vector<std::int64_t> shape, std::initializer_list<float> values,
                      std::int32_t row = wire::kAllRows) {
    return server.put({name, DataType::fp32, std::move(shape)}, raw<float>(values), row);
  }
  std::vector<float> floats(const wire::Placed& placed) { return values_of<float>(server.bytes(placed)); }
};

TEST(TorchWorker, GivesInputsInTheOrderDeclared) {
  Torch torch("def forward(self, a, b):\n  return a - b\n", {{"x", DataType::fp32, {1}}, {"y", DataType::fp32, {1}}},
              {{"difference", DataType::fp32, {1}}});
  const auto ran =
      torch.server.run({.rows = 2, .inputs = {torch.floats("y", {2, 1}, {1, 2}), torch.floats("x", {2, 1}, {10, 20})}});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"difference", DataType::fp32, {2, 1}}));
  EXPECT_EQ(torch.floats(ran.outputs[0]), (std::vector<float>{9, 18}));
}

TEST(TorchWorker, GivesInputsInTheOrderInWhichTheyComeWhereNothingIsDeclared) {
  Torch torch("def forward(self, a, b):\n  return a - b, a + b\n");
  const auto ran = torch.server.run({.inputs = {torch.floats("y", {1}, {1}), torch.floats("x", {1}, {10})}});
  ASSERT_EQ(ran.outputs.size(), 2u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info.name, "output0");
  EXPECT_EQ(torch.floats(ran.outputs[0]), (std::vector<float>{-9}));
  EXPECT_EQ(ran.outputs[1].info.name, "output1");
  EXPECT_EQ(torch.floats(ran.outputs[1]), (std::vector<float>{11}));
}

TEST(TorchWorker, NamesOutputsByPlaceOrByTheModelsOwnNames) {
  const std::vector<Port> declared{{"b", DataType::fp32, {}}, {"a", DataType::fp64, {}}};
  for (const auto* returned : {"[x + 1, x + 2]", "(x + 1, x + 2, x)", "{'a': x + 2, 'b': x + 1, 'c': x}"}) {
    Torch torch(std::string("def forward(self, x):\n  return ") + returned + "\n", {}, declared);
    const auto ran = torch.server.run({.inputs = {torch.floats("x", {1}, {5})}});
    ASSERT_EQ(ran.outputs.size(), 2u) << ran.error;
    EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"b", DataType::fp32, {1}}));
    EXPECT_EQ(torch.floats(ran.outputs[0]), (std::vector<float>{6}));
    EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"a", DataType::fp64, {1}}));
    EXPECT_EQ(values_of<double>(torch.server.bytes(ran.outputs[1])), (std::vector<double>{7}));
  }
}

TEST(TorchWorker, RunsAnOptimisedNetworkOnAnyBatchAndNumberOfThreads) {
  Torch torch(
      "def forward(self, x):\n"
      "  y = torch.conv2d(x, self.filter)\n"
      "  return torch.relu(torch.batch_norm(y, self.scale, self.shift, self.mean, self.variance, False, 0.1, 0.0, "
      "False))\n");
  for (const std::uint32_t rows : {1u, 3u, 2u}) {
    const std::string ones = raw<float>({1});
    std::string bytes;
    for (std::uint32_t i = 0; i < rows * 3 * 32 * 32; ++i) bytes += ones;
    const auto x = torch.server.put({"x", DataType::fp32, {rows, 3, 32, 32}}, bytes);
    const std::size_t size = rows * 4 * 30 * 30 * sizeof(float);
    const auto ran =
        torch.server.run({.rows = rows, .threads = 1 + rows % 2, .inputs = {x}, .outputs = torch.server.space(size)});
    ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
    EXPECT_EQ(ran.outputs[0].info.shape, (std::vector<std::int64_t>{rows, 4, 30, 30}));
    for (const float value : torch.floats(ran.outputs[0])) EXPECT_FLOAT_EQ(value, 10);  // (27 - 7) / 2
  }
}

TEST(TorchWorker, RunsMethodsOfModulesInside) {
  Torch torch("def forward(self, x):\n  return self.inner.forward(x)\n");
  const auto ran = torch.server.run({.inputs = {torch.floats("x", {1}, {5})}});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(torch.floats(ran.outputs[0]), (std::vector<float>{10}));
}

TEST(TorchWorker, HandsEveryTypeOnAsItIs) {
  const std::vector<std::pair<DataType, std::string>> values{
      {DataType::boolean, std::string("\0\1", 2)},       {DataType::uint8, raw<std::uint8_t>({1, 255})},
      {DataType::int8, raw<std::int8_t>({1, -128})},     {DataType::int16, raw<std::int16_t>({1, -5})},
      {DataType::int32, raw<std::int32_t>({1, -5})},     {DataType::int64, raw<std::int64_t>({1, -5})},
      {DataType::fp16, raw<std::uint16_t>({0x3c00, 1})}, {DataType::bf16, raw<std::uint16_t>({0x3f80, 1})},
      {DataType::fp32, raw<float>({1.5, -2})},           {DataType::fp64, raw<double>({1.5, -2})}};
  Torch torch("def forward(self, x):\n  return x\n");
  for (const auto& [type, bytes] : values) {
    const auto x = torch.server.put({"output0", type, {2}}, bytes);
    const auto ran = torch.server.run({.rows = 2, .inputs = {x}});
    ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
    EXPECT_EQ(ran.outputs[0].info, x.info);
    EXPECT_EQ(torch.server.bytes(ran.outputs[0]), bytes) << name_of(type);
  }
  const auto x = torch.server.put({"x", DataType::uint16, {1}}, raw<std::uint16_t>({1}));
  EXPECT_EQ(torch.server.run({.inputs = {x}}).error, "input `x` is of type UINT16, which torch does not have");
}

TEST(TorchWorker, ReadsInputsWhereTheyAreIfTheyAreAligned) {
  Torch torch("def forward(self, x):\n  return x.add_(1)\n");
  auto x = torch.floats("x", {1}, {5});
  EXPECT_EQ(torch.server.run({.inputs = {x}}).error, "");
  EXPECT_EQ(torch.floats(x), (std::vector<float>{6}));  // written in place, which shows that there is no copy
  auto odd = torch.server.put({"x", DataType::fp32, {1}}, "?" + raw<float>({5}));
  odd.offset += 1;
  odd.size = sizeof(float);
  const auto ran = torch.server.run({.inputs = {odd}});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(torch.floats(ran.outputs[0]), (std::vector<float>{6}));
  EXPECT_EQ(torch.floats(odd), (std::vector<float>{5}));
}

TEST(TorchWorker, RunsRowsOfDifferentShapesOneByOne) {
  Torch torch("def forward(self, x, y):\n  return x + y\n");
  const auto y = torch.floats("y", {2, 1}, {10, 20});
  const auto ran =
      torch.server.run({.rows = 2, .inputs = {torch.floats("x", {1}, {1}, 0), y, torch.floats("x", {2}, {2, 3}, 1)}});
  ASSERT_EQ(ran.outputs.size(), 2u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info.shape, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(ran.outputs[0].row, 0);
  EXPECT_EQ(ran.outputs[1].info.shape, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(ran.outputs[1].row, 1);
  EXPECT_EQ(torch.floats(ran.outputs[1]), (std::vector<float>{22, 23}));
}

TEST(TorchWorker, StacksRowsThatCameApartButAreAlike) {
  Torch torch("def forward(self, x):\n  return x * x.size(0)\n");
  const auto ran =
      torch.server.run({.rows = 2, .inputs = {torch.floats("x", {1}, {5}, 1), torch.floats("x", {1}, {3}, 0)}});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(torch.floats(ran.outputs[0]), (std::vector<float>{6, 10}));
}

TEST(TorchWorker, SaysWhatTheModelRaisedAndGoesOn) {
  Torch torch(
      "def forward(self, x):\n"
      "  assert float(x.sum()) >= 0.0, 'too negative'\n"
      "  return torch.matmul(x, x)\n");
  EXPECT_EQ(torch.server.run({.inputs = {torch.floats("x", {1, 1}, {-5})}}).error,
            "AssertionError: too negative; the model was given input `x` of shape [1] in a batch of 1");
  EXPECT_EQ(torch.server.run({.inputs = {torch.floats("x", {1, 2}, {1, 2})}}).error,
            "mat1 and mat2 shapes cannot be multiplied (1x2 and 1x2); the model was given input `x` of shape [2] in a "
            "batch of 1");
  EXPECT_EQ(torch.server.run({.inputs = {torch.floats("x", {1, 1}, {5})}}).error, "");
}

TEST(TorchWorker, RefusesOutputsThatAreNotAsDeclared) {
  const auto refused = [](const std::string& returned, std::vector<Port> outputs) {
    Torch torch("def forward(self, x):\n  return " + returned + "\n", {}, std::move(outputs));
    return torch.server.run({.rows = 2, .inputs = {torch.floats("x", {2, 2}, {1, 2, 3, 4})}}).error;
  };
  EXPECT_EQ(refused("x", {{"y", DataType::fp32, {3}}}), "output `y` has shape [2, 2], which is not as declared");
  EXPECT_EQ(refused("x", {{"y", DataType::fp32, {2}}, {"z", DataType::fp32, {2}}}), "the model returned no output `z`");
  EXPECT_EQ(refused("x", {{"y", DataType::bytes, {2}}}), "output `y` is declared BYTES, which torch does not have");
  EXPECT_EQ(refused("x.sum()", {}), "output `output0` has shape [], its first dimension has to be the 2 rows");
  EXPECT_EQ(refused("x.size(0)", {}), "the model returned a value of type Int, which is neither a tensor nor some");
}

TEST(TorchWorker, SaysWhichInputIsMissing) {
  Torch torch("def forward(self, x):\n  return x\n", {{"x", DataType::fp32, {1}}});
  EXPECT_EQ(torch.server.run({.inputs = {torch.floats("y", {1}, {1})}}).error, "input `x` is missing");
}

TEST(TorchWorker, SaysWhatCannotBeLoaded) {
  Process process;  // by itself, not forked
  Server server(process.channel());
  EXPECT_EQ(server.load({.runtime = Runtime::torch, .model = "no/such.pt"}).error, "model `such.pt` cannot be read");
  auto worker = parked().fork();
  const std::string error =
      Server(worker.channel).load({.runtime = Runtime::torch, .model = in_source("README.md")}).error;
  EXPECT_TRUE(error.starts_with("model `README.md` cannot be loaded as TorchScript: ")) << error;
}

}  // namespace
}  // namespace sluice::test
