// Functions that are programs. They are small shell and Python scripts.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <limits>

#include "worker/process.h"

namespace sluice::test {
namespace {

Body shell(const std::string& script) {
  return {.runtime = Runtime::process, .command = {"sh", "-c", script}};
}
// `script` sees the request as `request`, its inputs as `value`, and leaves `answer`.
Body python(const std::string& script) {
  return {.runtime = Runtime::process,
          .command = {"python3", "-c",
                      "import sys, os, json\n"
                      "out = os.fdopen(3, 'w')\n"
                      "for line in sys.stdin:\n"
                      "  request = json.loads(line)\n"
                      "  value = request['value']\n  " +
                          script + "\n  print(json.dumps(answer), file=out, flush=True)\n"}};
}

struct Program {
  Process process;
  Server server{process.channel()};
  explicit Program(Body body, std::vector<Port> outputs = {}) {
    EXPECT_EQ(server.load(std::move(body), {}, std::move(outputs)).error, "");
  }
  wire::Placed put(data::TensorInfo info, const std::string& bytes, std::int32_t row = wire::kAllRows) {
    return server.put(std::move(info), bytes, row);
  }
  // The bytes of the only output, which has to be `info`.
  std::string only(const wire::Ran& ran, const data::TensorInfo& info) {
    EXPECT_EQ(ran.error, "");
    if (ran.outputs.size() != 1) ADD_FAILURE() << ran.outputs.size() << " outputs";
    if (ran.outputs.size() != 1) return {};
    EXPECT_EQ(ran.outputs[0].info, info);
    return server.bytes(ran.outputs[0]);
  }
};

TEST(ProcessWorker, GivesEveryRowToTheProgramAndStacksItsAnswers) {
  Program program(python("answer = {'sum': sum(value['x']) + value['y']}"));
  const auto x = program.put({"x", DataType::fp32, {2, 2}}, raw<float>({1, 2, 3, 4}));
  const auto y = program.put({"y", DataType::int64, {2, 1}}, raw<std::int64_t>({10, 20}));
  const auto ran = program.server.run({.rows = 2, .inputs = {x, y}});
  const auto bytes = program.only(ran, {"sum", DataType::fp64, {2, 1}});
  EXPECT_EQ(values_of<double>(bytes), (std::vector{13.0, 27.0}));
  EXPECT_TRUE(ran.row_errors.empty());
}

TEST(ProcessWorker, TellsTheProgramWhoCallsAndUntilWhen) {
  Program program(
      python("answer = {'name': request['action_name'], 'deadline': request['deadline'],"
             " 'id': request['activation_id']}"));
  const auto first = program.server.run({.deadline = Time::from_ns(1'700'000'000'123'456'789)});
  ASSERT_EQ(first.outputs.size(), 3u);
  EXPECT_EQ(program.server.bytes(first.outputs[0]), texts({"f"}));
  EXPECT_EQ(values_of<std::int64_t>(program.server.bytes(first.outputs[1])), (std::vector{1'700'000'000'123}));
  const std::string id = program.server.bytes(first.outputs[2]);
  EXPECT_EQ(id.size(), 4u + 32u);
  const auto second = program.server.run({});
  EXPECT_NE(program.server.bytes(second.outputs[2]), id);
}

TEST(ProcessWorker, KeepsRowsApartWhereShapesDiffer) {
  Program program(python("answer = {'x': [1] * value['n'], 'y': 0.5}"));
  const auto n = program.put({"n", DataType::uint8, {2}}, raw<std::uint8_t>({2, 3}));
  const auto ran = program.server.run({.rows = 2, .inputs = {n}});
  ASSERT_EQ(ran.outputs.size(), 3u);
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"x", DataType::int64, {2}}));
  EXPECT_EQ(ran.outputs[0].row, 0);
  EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"x", DataType::int64, {3}}));
  EXPECT_EQ(ran.outputs[1].row, 1);
  EXPECT_EQ(values_of<std::int64_t>(program.server.bytes(ran.outputs[1])), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(ran.outputs[2].info, (data::TensorInfo{"y", DataType::fp64, {2, 1}}));
  EXPECT_EQ(ran.outputs[2].row, wire::kAllRows);
}

TEST(ProcessWorker, TakesRowsThatCameApart) {
  Program program(python("answer = {'length': len(value['text']), 'twice': value['text'] * 2}"));
  const auto first = program.put({"text", DataType::bytes, {1}}, texts({"ä\n\"b"}), 0);
  const auto second = program.put({"text", DataType::bytes, {2}}, texts({"one", "two"}), 1);
  const auto ran = program.server.run({.rows = 2, .inputs = {second, first}});
  ASSERT_EQ(ran.outputs.size(), 3u);
  EXPECT_EQ(values_of<std::int64_t>(program.server.bytes(ran.outputs[0])), (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(program.server.bytes(ran.outputs[1]), texts({"ä\n\"bä\n\"b"}));
  EXPECT_EQ(program.server.bytes(ran.outputs[2]), texts({"one", "two", "one", "two"}));
}

TEST(ProcessWorker, FailsTheRowWhoseAnswerIsAnError) {
  Program program(python("answer = {'error': 'too odd'} if value['x'] % 2 else {'x': value['x']}"));
  const auto x = program.put({"x", DataType::int32, {3}}, raw<std::int32_t>({2, 3, 4}));
  const auto ran = program.server.run({.rows = 3, .inputs = {x}});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.row_errors, (std::vector<std::string>{"", "too odd", ""}));
  ASSERT_EQ(ran.outputs.size(), 2u);
  EXPECT_EQ(ran.outputs[0].row, 0);
  EXPECT_EQ(ran.outputs[1].row, 2);
}

TEST(ProcessWorker, FailsTheRowThatJsonCannotSay) {
  Program program(python("answer = value"));
  const auto x = program.put({"x", DataType::fp32, {2}}, raw<float>({1, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(program.server.run({.rows = 2, .inputs = {x}}).row_errors,
            (std::vector<std::string>{"", "input `x` cannot be given to a program: a number is not finite"}));
  const auto text = program.put({"x", DataType::bytes, {2}}, texts({"\xff", "fine"}));
  EXPECT_EQ(program.server.run({.rows = 2, .inputs = {text}}).row_errors,
            (std::vector<std::string>{"input `x` cannot be given to a program: a text is not UTF-8", ""}));
}

TEST(ProcessWorker, GivesOutputsTheirDeclaredTypes) {
  Program program(python("answer = {'x': [[1, 2.5], [3, 4]], 'ok': True, 'what': {'a': 1}, 'more': 0}"),
                  {{"x", DataType::fp16, {2, -1}}, {"ok", DataType::boolean, {}}, {"what", DataType::bytes, {1}}});
  const auto ran = program.server.run({});
  ASSERT_EQ(ran.outputs.size(), 3u) << ran.error;
  EXPECT_EQ(ran.outputs[0].info, (data::TensorInfo{"x", DataType::fp16, {1, 2, 2}}));
  EXPECT_EQ(values_of<std::uint16_t>(program.server.bytes(ran.outputs[0])),
            (std::vector<std::uint16_t>{0x3c00, 0x4100, 0x4200, 0x4400}));
  EXPECT_EQ(ran.outputs[1].info, (data::TensorInfo{"ok", DataType::boolean, {1}}));
  EXPECT_EQ(program.server.bytes(ran.outputs[1]), "\x01");
  EXPECT_EQ(ran.outputs[2].info, (data::TensorInfo{"what", DataType::bytes, {1, 1}}));
  EXPECT_EQ(program.server.bytes(ran.outputs[2]), texts({R"({"a":1})"}));
}

TEST(ProcessWorker, FailsTheRowThatIsNotAsDeclared) {
  Program program(python("answer = json.loads(value['say'])"), {{"x", DataType::uint8, {2}}});
  const auto say = [&](const std::string& json) {
    const auto ran = program.server.run({.inputs = {program.put({"say", DataType::bytes, {1}}, texts({json}))}});
    return ran.row_errors.empty() ? ran.error : ran.row_errors[0];
  };
  EXPECT_EQ(say(R"({"x": [1, 255]})"), "");
  EXPECT_EQ(say(R"({"x": [1, 256]})"), "output `x` is [1,256], which is not of type UINT8");
  EXPECT_EQ(say(R"({"x": [1, 2, 3]})"), "output `x` has shape [3], declared is [2]");
  EXPECT_EQ(say(R"({"x": 1})"), "output `x` has shape [1], declared is [2]");
  EXPECT_EQ(say(R"({"x": "text"})"), "output `x` is \"text\", which is not of type UINT8");
  EXPECT_EQ(say(R"({"y": [1, 2]})"), "the program's answer has no output `x`");
  EXPECT_EQ(say(R"([1, 2])"), "the program has to answer with an object, not with [1,2]");
}

// Twice: the second batch meets a program that was started anew.
void expect_failure(const std::string& script, const std::string& error) {
  Program program(shell(script));
  const auto ran = program.server.run({.rows = 2});
  EXPECT_EQ(ran.error, error);
  EXPECT_TRUE(ran.outputs.empty());
  EXPECT_EQ(program.server.run({.rows = 2}).error, error);
}

TEST(ProcessWorker, FailsTheBatchOfAProgramThatDoesNotKeepToTheContract) {
  expect_failure("read line; exit 3", "the program exited with code 3 before it had answered");
  expect_failure("read line; kill -9 $$", "the program was killed by signal 9 (SIGKILL) before it had answered");
  expect_failure("read line; exec 3>&-; read line",
                 "the program closed its input or its answers before it had answered");
  expect_failure("read line; echo rubbish >&3; read line",
                 "the program answered `rubbish`: JSON, byte 1: a value is expected");
  expect_failure("read line; printf '{}\\n{}\\n' >&3; read line",
                 "the program has to answer each line with exactly one line, but wrote more");
  expect_failure("read line; tr '\\0' x </dev/zero >&3", "the program answered with a line of more than 64 MiB");
}

TEST(ProcessWorker, StartsTheProgramAnewAfterItDied) {
  Program program(python("answer = {'pid': os.getpid()}\n  if value.get('die'): os._exit(1)"));
  const auto pid = [&] { return program.server.bytes(program.server.run({}).outputs.at(0)); };
  const std::string first = pid();
  EXPECT_EQ(pid(), first);
  const auto die = program.put({"die", DataType::boolean, {1}}, "\x01");
  EXPECT_EQ(program.server.run({.inputs = {die}}).error, "the program exited with code 1 before it had answered");
  EXPECT_NE(pid(), first);
}

TEST(ProcessWorker, PassesLinesThatFillAPipeManyTimes) {
  Program program(python("answer = {'x': value['x'][::-1]}"), {{"x", DataType::uint8, {-1}}});
  std::string bytes(300'000, '\7');
  bytes.front() = 1;
  const auto x = program.put({"x", DataType::uint8, {1, 300'000}}, bytes);
  const auto ran = program.server.run({.inputs = {x}, .outputs = program.server.space(bytes.size())});
  std::reverse(bytes.begin(), bytes.end());
  EXPECT_TRUE(program.only(ran, x.info) == bytes);
}

TEST(ProcessWorker, SaysWhatCannotBeStarted) {
  Process process;
  Server server(process.channel());
  EXPECT_EQ(server.load({.runtime = Runtime::process, .command = {"./no-such-program"}}).error,
            "program `./no-such-program` cannot be started: No such file or directory");
  Process other;
  EXPECT_EQ(Server(other.channel()).load({.runtime = Runtime::process}).error,
            "a function of runtime process has to name its command");
}

TEST(ProcessWorker, TakesItsProgramWithItWhenItIsKilled) {
  // It does not care about the end of its input.
  Program program(shell(R"(read line; echo "{\"pid\":$$}" >&3; exec sleep 1000)"));
  const auto bytes = program.server.bytes(program.server.run({}).outputs.at(0));
  const auto pid = static_cast<pid_t>(values_of<std::int64_t>(bytes).at(0));
  const int child = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  ASSERT_GE(child, 0);
  program.process.signal(SIGKILL);
  pollfd ended{child, POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 60'000), 1);
  ::close(child);
}

}  // namespace
}  // namespace sluice::test
