// Functions that are Python sources, in an interpreter of their own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "worker/process.h"

namespace sluice::test {
namespace {

// A file of its own that goes with the test.
class Source {
 public:
  explicit Source(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    EXPECT_GE(file, 0);
    ::close(file);
    path_ = name;
    std::ofstream(path_) << text;
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { std::filesystem::remove(path_); }
  [[nodiscard]] Body body() const { return {.runtime = Runtime::python, .model = path_}; }

 private:
  std::string path_;
};

struct Interpreter {
  Process process{{SLUICE_PYTHON, in_source("src/engine/python/sluice_worker.py"), "--socket"}};
  Server server{process.channel()};
};

struct Function : Interpreter {
  explicit Function(const std::string& text, std::vector<Port> outputs = {}) {
    const Source source(text);
    EXPECT_EQ(server.load(source.body(), {}, std::move(outputs)).error, "");
  }
};

TEST(PythonWorker, CallsTheFunctionWithStackedArrays) {
  Function function(
      "def load():\n"
      "  global factor\n"
      "  factor = 10\n"
      "def run(inputs):\n"
      "  x = inputs['x']\n"
      "  return {'y': x * factor, 'shape': [x.shape] * len(x)}\n");
  const auto x = function.server.put({"x", DataType::fp32, {2, 3}}, raw<float>({1, 2, 3, 4, 5, 6}));
  const auto ran = function.server.run({.rows = 2, .inputs = {x}});
  ASSERT_EQ(ran.outputs.size(), 2u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"y", DataType::fp32, {2, 3}}));
  EXPECT_EQ(values_of<float>(function.server.bytes(ran.outputs[0])), (std::vector<float>{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"shape", DataType::int64, {2, 2}}));
  EXPECT_EQ(values_of<std::int64_t>(function.server.bytes(ran.outputs[1])), (std::vector<std::int64_t>{2, 3, 2, 3}));
}

TEST(PythonWorker, MapsInputsWithoutCopyingAndKeepsThemFromBeingWritten) {
  Function function(
      "import numpy\n"
      "def run(inputs):\n"
      "  x = inputs['x']\n"
      "  return {'y': numpy.array([x.flags.owndata, x.flags.writeable])[None]}\n");
  const auto x = function.server.put({"x", DataType::int16, {1, 2}}, raw<std::int16_t>({1, 2}));
  const auto ran = function.server.run({.inputs = {x}});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"y", DataType::boolean, {1, 2}}));
  EXPECT_EQ(function.server.bytes(ran.outputs[0]), std::string(2, '\0'));
}

TEST(PythonWorker, HandsEveryTypeOnAsItIs) {
  Function function("def run(inputs):\n  return inputs\n");
  std::vector<wire::Placed> inputs;
  const auto add = [&](DataType type, const std::string& bytes) {
    inputs.push_back(function.server.put({std::string(name_of(type)), type, {2, 1}}, bytes));
  };
  add(DataType::boolean, std::string("\0\1", 2));
  add(DataType::uint8, raw<std::uint8_t>({1, 255}));
  add(DataType::uint16, raw<std::uint16_t>({1, 65535}));
  add(DataType::uint32, raw<std::uint32_t>({1, ~0u}));
  add(DataType::uint64, raw<std::uint64_t>({1, ~0ull}));
  add(DataType::int8, raw<std::int8_t>({1, -128}));
  add(DataType::int16, raw<std::int16_t>({1, -32768}));
  add(DataType::int32, raw<std::int32_t>({1, -5}));
  add(DataType::int64, raw<std::int64_t>({1, -5}));
  add(DataType::fp16, raw<std::uint16_t>({0x3c00, 0xc000}));
  add(DataType::fp32, raw<float>({1.5f, -2}));
  add(DataType::fp64, raw<double>({1.5, -2}));
  add(DataType::bytes, texts({std::string("\0\xff", 2), ""}));
  const auto ran = function.server.run({.rows = 2, .inputs = inputs});
  ASSERT_EQ(ran.outputs.size(), inputs.size()) << ran.error;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(ran.outputs[i].info, inputs[i].info);
    EXPECT_EQ(function.server.bytes(ran.outputs[i]), function.server.bytes(inputs[i])) << inputs[i].info.name;
  }
}

TEST(PythonWorker, GivesOutputsTheirDeclaredTypes) {
  Function function(
      "def run(inputs):\n"
      "  return {'more': 0, 'label': ['cat'], 'n': [[7]], 'b': [[1.0, 1.00390625]]}\n",
      {{"b", DataType::bf16, {-1}}, {"n", DataType::uint8, {1}}, {"label", DataType::bytes, {}}});
  const auto ran = function.server.run({});
  ASSERT_EQ(ran.outputs.size(), 3u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"b", DataType::bf16, {1, 2}}));
  EXPECT_EQ(values_of<std::uint16_t>(function.server.bytes(ran.outputs[0])),
            (std::vector<std::uint16_t>{0x3f80, 0x3f80}));
  EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"n", DataType::uint8, {1, 1}}));
  EXPECT_EQ(ran.outputs[2].info, (data::TensorInfo{"label", DataType::bytes, {1}}));
  EXPECT_EQ(function.server.bytes(ran.outputs[2]), texts({"cat"}));
}

TEST(PythonWorker, FailsTheBatchWhoseOutputsAreNotAsDeclared) {
  Function function("def run(inputs):\n  return eval(inputs['say'][0].decode())\n", {{"x", DataType::uint8, {2}}});
  const auto say = [&](const std::string& expression) {
    return function.server.run({.inputs = {function.server.put({"say", DataType::bytes, {1}}, texts({expression}))}})
        .error;
  };
  EXPECT_EQ(say("{'x': [[1, 255]]}"), "");
  EXPECT_EQ(say("{'x': [[1, 256]]}"), "output `x` is an array of int64, declared is UINT8");
  EXPECT_EQ(say("{'x': [[1, .5]]}"), "output `x` is an array of float64, declared is UINT8");
  EXPECT_EQ(say("{'x': [['1', '2']]}"), "output `x` is an array of <U1, declared is UINT8");
  EXPECT_EQ(say("{'x': [[1, 2, 3]]}"), "output `x` has shape [1, 3], declared is [1, 2]");
  EXPECT_EQ(say("{'y': [[1, 2]]}"), "run(inputs) returned no output `x`");
  EXPECT_EQ(say("[1, 2]"), "run(inputs) has to return a dict, not list");
}

TEST(PythonWorker, SaysWhatTheFunctionRaisedAndGoesOn) {
  Function function(
      "def run(inputs):\n"
      "  if 'x' in inputs: raise ValueError('no x, please')\n"
      "  return {}\n");
  const auto x = function.server.put({"x", DataType::fp32, {1}}, raw<float>({1}));
  EXPECT_EQ(function.server.run({.inputs = {x}}).error, "ValueError: no x, please");
  EXPECT_EQ(function.server.run({}).error, "");
  Function leaves("import sys\ndef run(inputs):\n  sys.exit(3)\n");
  EXPECT_EQ(leaves.server.run({}).error, "SystemExit: 3");
}

TEST(PythonWorker, RunsRowsOfDifferentShapesOneByOne) {
  Function function(
      "def run(inputs):\n"
      "  if inputs['x'].shape[1] > 2: raise ValueError('too long')\n"
      "  return {'sum': inputs['x'].sum(axis=1) + inputs['y']}\n");
  Server& server = function.server;
  const auto y = server.put({"y", DataType::fp32, {3}}, raw<float>({10, 20, 30}));
  const auto ran = server.run({.rows = 3,
                               .inputs = {server.put({"x", DataType::fp32, {1}}, raw<float>({1}), 0),
                                          server.put({"x", DataType::fp32, {3}}, raw<float>({1, 2, 3}), 2), y,
                                          server.put({"x", DataType::fp32, {2}}, raw<float>({1, 2}), 1)}});
  EXPECT_EQ(ran.row_errors, (std::vector<std::string>{"", "", "ValueError: too long"}));
  ASSERT_EQ(ran.outputs.size(), 2u) << ran.error;
  EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"sum", DataType::fp32, {}}));
  EXPECT_EQ(ran.outputs[1].row, 1);
  EXPECT_EQ(values_of<float>(server.bytes(ran.outputs[1])), (std::vector<float>{23}));
}

TEST(PythonWorker, StacksRowsThatCameApartButAreAlike) {
  Function function("def run(inputs):\n  return {'y': inputs['x'] + len(inputs['x'])}\n");
  Server& server = function.server;
  const auto ran = server.run({.rows = 2,
                               .inputs = {server.put({"x", DataType::int32, {1}}, raw<std::int32_t>({5}), 1),
                                          server.put({"x", DataType::int32, {1}}, raw<std::int32_t>({3}), 0)}});
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(values_of<std::int32_t>(server.bytes(ran.outputs[0])), (std::vector<std::int32_t>{5, 7}));
}

TEST(PythonWorker, AsksForMoreSpace) {
  Function function("import numpy\ndef run(inputs):\n  return {'x': numpy.ones((1, 100), 'u1')}\n");
  function.server.send(wire::Run{.batch = 4, .outputs = function.server.space(10)});
  EXPECT_EQ(function.server.next<wire::Wanted>().bytes, 100u);
  const auto space = function.server.space(100);
  function.server.send(wire::Grant{4, space});
  const auto ran = function.server.next<wire::Ran>();
  ASSERT_EQ(ran.outputs.size(), 1u) << ran.error;
  EXPECT_EQ(ran.outputs[0].offset, space.offset);
  EXPECT_EQ(function.server.bytes(ran.outputs[0]), std::string(100, '\1'));
  function.server.send(wire::Run{.batch = 5, .outputs = {}});
  (void)function.server.next<wire::Wanted>();
  function.server.send(wire::Grant{5, {1 << 20, 100}});
  EXPECT_EQ(function.server.next<wire::Ran>().error, "there is no room for outputs of 100 bytes");
}

TEST(PythonWorker, RefusesAFunctionWhosePackagesAreNotThere) {
  Interpreter interpreter;
  const Source source("def run(inputs):\n  return {}\n");
  const auto load = [&](std::vector<std::string> requirements) {
    Body body = source.body();
    body.command = std::move(requirements);
    body.command.insert(body.command.begin(), "");
    const std::string error = interpreter.server.load(body).error;
    const std::size_t lacks = error.find(" lacks ");
    return lacks == std::string::npos ? error : error.substr(lacks + 1);
  };
  const std::string lacking = load({"numpy>1", "no-such-package>=2", "numpy<1.0"});
  EXPECT_TRUE(lacking.starts_with("lacks no-such-package>=2 (is not installed), numpy<1.0 (installed is ")) << lacking;
  EXPECT_EQ(load({"numpy", "numpy>=1.2,<99,!=1.3", "numpy>=1.0a1", "numpy!=0.*"}), "");
}

TEST(PythonWorker, SaysWhatCannotBeLoadedAndGoesOn) {
  Interpreter interpreter;
  const auto load = [&](const std::string& text) {
    const Source source(text);
    return interpreter.server.load(source.body()).error;
  };
  EXPECT_EQ(load("x = 1 / 0\n"), "ZeroDivisionError: division by zero");
  EXPECT_TRUE(load("run run\n").starts_with("SyntaxError: invalid syntax")) << load("run run\n");
  EXPECT_EQ(load("class NoWeights(Exception): pass\nraise NoWeights('none')\n"), "NoWeights: none");
  EXPECT_EQ(load("def load():\n  raise ValueError('no weights')\ndef run(inputs):\n  pass\n"),
            "ValueError: no weights");
  EXPECT_TRUE(load("x = 1\n").ends_with("does not define run(inputs)"));
  EXPECT_EQ(interpreter.server.load({.runtime = Runtime::python, .model = "no/such.py"}).error,
            "FileNotFoundError: [Errno 2] No such file or directory: 'no/such.py'");
  EXPECT_EQ(interpreter.server.load({.body = {.runtime = Runtime::python}, .device = 0}).error,
            "runtime python runs on CPUs only, device 0 was asked for");
  EXPECT_EQ(load("def run(inputs):\n  return {}\n"), "");
  EXPECT_EQ(interpreter.server.run({}).error, "");
}

TEST(PythonWorker, RefusesInputsThatAreNotWhatTheySay) {
  Function function("def run(inputs):\n  return {}\n");
  const auto refused = [&](wire::Placed input) { return function.server.run({.inputs = {std::move(input)}}).error; };
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, 8}}, -1, ~0ull - 3, 8}), "input `x` is outside of the shared memory");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1, 8}}, -1, 0, 9}),
            "input `x` has 9 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::uint8, {-1, -8}}, -1, 0, 8}),
            "input `x` has 8 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::bytes, {1, 1ll << 60}}, -1, 0, 8}),
            "input `x` has 8 bytes, which its shape does not have");
  EXPECT_EQ(refused({{"x", DataType::uint8, {3}}, -1, 0, 3}), "input `x` does not have the 1 rows of the batch");
  EXPECT_EQ(refused({{"x", DataType::uint8, {}}, 1, 0, 1}), "input `x` is of row 1 of 1");
  EXPECT_EQ(refused({{"x", DataType::uint8, {1}}, -1, 0, 1, 2}), "input `x` is on device 2, and this worker has none");
}

TEST(PythonWorker, EndsWhenTheServerBreaksTheProtocol) {
  Interpreter early;
  early.server.send(wire::Run{});
  EXPECT_EQ(early.process.exit_status(), 1);
  std::string load;
  ASSERT_TRUE(wire::encode(wire::ToWorker(wire::Load{.body = {.runtime = Runtime::python}}), load).ok());
  for (const std::uint32_t lanes : {1u, 2u}) {
    Interpreter cut;
    cut.server.hello(lanes);
    ASSERT_TRUE(cut.process.channel().send(load.substr(0, load.size() - 1)).ok());
    EXPECT_TRUE(cut.server.closed());
    EXPECT_EQ(cut.process.exit_status(), 1);
    Interpreter granted;
    granted.server.hello(lanes);
    granted.server.send(wire::Grant{});
    EXPECT_TRUE(granted.server.closed());
    EXPECT_EQ(granted.process.exit_status(), 1);
    Interpreter stopped;
    stopped.server.hello(lanes);
    stopped.server.send(wire::Stop{});
    EXPECT_TRUE(stopped.server.closed());
    EXPECT_EQ(stopped.process.exit_status(), 0);
  }
}

TEST(PythonWorker, HoldsSeveralFunctionsAndRunsThemAtOnce) {
  // Each waits for the other: they end only where both run at the same time.
  const auto meets = [](const std::string& own, const std::string& other) {
    return "import os, time\n"
           "def run(inputs):\n"
           "  open('" +
           own +
           "', 'w').close()\n"
           "  end = time.time() + 30\n"
           "  while not os.path.exists('" +
           other +
           "') and time.time() < end: time.sleep(0.001)\n"
           "  return {'met': [os.path.exists('" +
           other + "')]}\n";
  };
  const Source here(""), there("");
  const std::string one = here.body().model + "-one", two = there.body().model + "-two";
  const Source first(meets(one, two)), second(meets(two, one));
  Interpreter interpreter;
  Server& server = interpreter.server;
  server.hello(2);
  EXPECT_EQ(server.load({.function = 4, .name = "one", .body = first.body()}).error, "");
  EXPECT_EQ(server.load({.function = 9, .name = "two", .body = second.body()}).error, "");
  server.send(wire::Run{.batch = 1, .function = 4, .outputs = server.space(4096)});
  server.send(wire::Run{.batch = 2, .function = 9, .outputs = {}});  // this one has to ask for space
  std::uint64_t answered = 0;
  for (int messages = 0; messages < 3; ++messages) {
    const auto bytes = next_message(interpreter.process.channel());
    ASSERT_TRUE(bytes.has_value());
    const auto message = wire::decode_from_worker(*bytes);
    ASSERT_TRUE(message.ok());
    if (const auto* wanted = std::get_if<wire::Wanted>(&*message)) {
      EXPECT_EQ(wanted->batch, 2u);
      server.send(wire::Grant{2, server.space(wanted->bytes)});
      continue;
    }
    const auto& ran = std::get<wire::Ran>(*message);
    EXPECT_EQ(ran.error, "");
    ASSERT_EQ(ran.outputs.size(), 1u);
    EXPECT_EQ(server.bytes(ran.outputs[0]), "\1");
    answered += ran.batch;
  }
  EXPECT_EQ(answered, 3u);
  server.send(wire::Unload{4});
  EXPECT_EQ(server.next<wire::Unloaded>().function, 4u);
  std::filesystem::remove(one);
  std::filesystem::remove(two);
}

TEST(PythonWorker, DoesNotRunABatchThatIsCancelledInTime) {
  const Source source("import time\ndef run(inputs):\n  time.sleep(0.3)\n  return {}\n");
  Interpreter interpreter;
  Server& server = interpreter.server;
  server.hello(2);
  EXPECT_EQ(server.load({.name = "f", .body = source.body()}).error, "");
  for (const std::uint64_t batch : {1u, 2u, 3u}) server.send(wire::Run{.batch = batch});
  server.send(wire::Cancel{3});  // 1 runs, 2 waits for the function in a lane, 3 in none
  server.send(wire::Cancel{7});
  const auto cancelled = server.next<wire::Ran>();
  EXPECT_EQ(cancelled.batch, 3u);
  EXPECT_TRUE(cancelled.cancelled);
  EXPECT_FALSE(server.next<wire::Ran>().cancelled);
  EXPECT_FALSE(server.next<wire::Ran>().cancelled);
}

}  // namespace
}  // namespace sluice::test
