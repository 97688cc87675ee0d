// What documents say of conditions, fan-out, joins and errors holds with real data as it does in the simulator.
#include <gtest/gtest.h>

#include "base/text.h"
#include "live/live_server.h"

namespace sluice::live {
namespace {

using live_test::call;
using live_test::deploy;

struct Case {
  const char* name;
  const char* workflow;  // of functions copy (hands its inputs on), slow, and programs below
  std::vector<float> x;  // the input
  std::vector<std::int64_t> shape;
  AnswerKind kind = AnswerKind::finished;
  std::vector<std::string> ran;  // stages in the order of their start, without `slow`
  std::vector<float> y;          // of the first output; not looked at if it failed
  const char* error = "";        // of the answer
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

// `flaky` fails with Flaky until it has a file, `faceless` always with NoFace, `crash` ends its worker.
std::string document(const Case& c, const std::string& folder) {
  const auto program = [](const std::string& script) {
    return str("{runtime: process, command: [sh, -c, \"while read line; do ", script,
               "; done\"], profile: {table: [[1, 1, 0, 5.0, 0.1]]}}\n");
  };
  const std::string answer = "echo '{\\\"x\\\": [7.0]}' >&3";
  return str("application: a\nslo: 60s\nfunctions:\n",
             "  copy: {runtime: emulated, profile: {table: [[1, 1, 0, 1.0, 0.0]]}}\n",
             "  slow: {runtime: emulated, profile: {table: [[1, 1, 0, 60000.0, 0.0]]}}\n",  //
             "  flaky: ",
             program(str("if [ -e ", folder, "/f ]; then ", answer, "; else touch ", folder,
                         "/f; echo '{\\\"error\\\": \\\"Flaky\\\"}' >&3; fi")),
             "  faceless: ", program("echo '{\\\"error\\\": \\\"NoFace\\\"}' >&3"),
             "  crash: ", program("kill -9 $PPID; sleep 1000"),  //
             "workflow:\n", c.workflow);
}

class WorkflowsTest : public testing::TestWithParam<Case> {
 protected:
  static std::shared_ptr<const data::Tensors> input(Service& service, const Case& c) {
    auto tensors = *live_test::floats(service, "x", c.x);
    tensors[0].info.shape = c.shape;
    return std::make_shared<const data::Tensors>(std::move(tensors));
  }
};

TEST_P(WorkflowsTest, RunsWhatItSays) {
  const Case& c = GetParam();
  const live_test::TemporaryFolder folder;
  const auto platform = std::move(Platform::start(live_test::options_in(folder.path())).value());
  const auto deployed = deploy(*platform, document(c, folder.path()));
  ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  const Answer answer = call(*platform, {.application = "a", .inputs = input(*platform, c)}).get();
  EXPECT_EQ(answer.kind, c.kind) << answer.error;
  EXPECT_NE(answer.error.find(c.error), std::string::npos) << answer.error;
  const auto record = platform->find_request({}, answer.request);
  std::vector<std::string> ran;
  for (const StageRecord& stage : record->stages) {
    if (stage.stage != "slow") ran.push_back(stage.stage);
  }
  EXPECT_EQ(ran, c.ran);
  EXPECT_LT(answer.latency, Duration::s(30));  // nobody waited for `slow`
  if (c.kind != AnswerKind::finished) return;
  std::vector<float> y;
  if (!answer.outputs.empty()) {
    const data::Tensor& first = answer.outputs.front();
    if (first.info.type == DataType::fp64) {  // a program's number
      double number = 0;
      std::memcpy(&number, first.bytes().data(), sizeof number);
      y.push_back(static_cast<float>(number));
    } else {
      y.resize(first.size / sizeof(float));
      std::memcpy(y.data(), first.bytes().data(), first.size);
    }
  }
  EXPECT_EQ(y, c.y);
}

using Names = std::vector<std::string>;
constexpr const char* kRefined =
    "  detect: {function: copy}\n"
    "  refine: {function: copy, after: detect, when: {detect.x: '< 0.5'}}\n"
    "  keep: {function: copy, after: detect, when: otherwise}\n";
constexpr const char* kEach =
    "  each: {function: copy, foreach: request.x}\n"
    "  last: {function: copy, after: each, inputs: {x: each.x}}\n";

INSTANTIATE_TEST_SUITE_P(
    Live, WorkflowsTest,
    testing::Values(
        Case{"condition holds", kRefined, {0.25}, {1}, AnswerKind::finished, Names{"detect", "refine"}, {0.25}},
        Case{"condition does not hold", kRefined, {0.75}, {1}, AnswerKind::finished, Names{"detect", "keep"}, {0.75}},
        Case{"condition on the request",
             "  a: {function: copy, when: {request.x: '> 3'}}\n"
             "  b: {function: copy, when: {request.x: '<= 3'}}\n",
             {2},
             {1},
             AnswerKind::finished,
             Names{"b"},
             {2}},
        Case{"skipped counts as finished",
             "  a: {function: copy}\n"
             "  b: {function: copy, after: a, when: {a.x: '> 3'}}\n"
             "  c: {function: copy, after: [a, b], inputs: {x: a.x}}\n",
             {2},
             {1},
             AnswerKind::finished,
             Names{"a", "c"},
             {2}},
        Case{"foreach gives rows and stacks what they leave",
             kEach,
             {1, 2, 3, 4, 5, 6},
             {3, 2},
             AnswerKind::finished,
             Names{"each", "each", "each", "last"},
             {1, 2, 3, 4, 5, 6}},
        Case{"foreach with a limit",
             "  each: {function: copy, foreach: {over: request.x, limit: 1}}\n",
             {1, 2, 3},
             {3},
             AnswerKind::finished,
             Names{"each", "each", "each"},
             {1, 2, 3}},
        Case{"foreach over nothing",
             "  each: {function: copy, foreach: request.x}\n",
             {},
             {0, 2},
             AnswerKind::finished,
             Names{},
             {}},
        Case{"join any goes on with the first",
             "  fast: {function: copy}\n"
             "  slow: {function: slow}\n"
             "  last: {function: copy, after: [fast, slow], join: any, inputs: {x: fast.x}}\n",
             {3},
             {1},
             AnswerKind::finished,
             Names{"fast", "last"},
             {3}},
        Case{"retry of a named error",
             "  s: {function: flaky, retry: {attempts: 2, interval: 1ms, on: Flaky}}\n",
             {1},
             {1},
             AnswerKind::finished,
             Names{"s", "s"},
             {7}},
        Case{"no retry of another error",
             "  s: {function: flaky, retry: {attempts: 2, interval: 1ms, on: Other}}\n",
             {1},
             {1},
             AnswerKind::failed,
             Names{"s"},
             {},
             "Flaky"},
        Case{"retries end",
             "  s: {function: faceless, retry: {attempts: 2, interval: 1ms}}\n",
             {1},
             {1},
             AnswerKind::failed,
             Names{"s", "s", "s"},
             {},
             "NoFace"},
        Case{"catch by name",
             "  s: {function: faceless, catch: {NoFace: sorry, all: other}}\n"
             "  sorry: {function: copy, inputs: {x: request.x}}\n"
             "  other: {function: copy}\n",
             {5},
             {1},
             AnswerKind::finished,
             Names{"s", "sorry"},
             {5}},
        Case{"catch of a worker that failed",
             "  s: {function: crash, catch: {WorkerFailed: sorry}}\n"
             "  sorry: {function: copy, inputs: {x: request.x}}\n",
             {5},
             {1},
             AnswerKind::finished,
             Names{"s", "s", "s", "s", "sorry"},
             {5}},
        Case{"a stage that fails",
             "  a: {function: copy}\n"
             "  b: {after: a, fail: {error: NoCars, cause: there are none}}\n",
             {5},
             {1},
             AnswerKind::failed,
             Names{"a"},
             {},
             "NoCars"}),
    [](const auto& one) {
      std::string name = one.param.name;
      for (char& c : name) c = c == ' ' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace sluice::live
