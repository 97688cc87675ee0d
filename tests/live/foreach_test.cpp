// A foreach with a workflow inside, with real data and worker processes: what comes out, what fails, what is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "domain/limits.h"
#include "live/live_server.h"
#include "support/eventually.h"

namespace sluice::live {
namespace {

using live_test::call;
using test::eventually;
using Names = std::vector<std::string>;

// Whatever a test does, nothing of its requests is left in the end.
class ForeachTest : public testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() { platform_ = std::move(Platform::start(live_test::options_in(folder_.path())).value()); }
  void TearDown() override {
    if (platform_ == nullptr) return;
    std::ofstream(file("go")).flush();
    EXPECT_TRUE(platform_->drain(Duration::s(30)));
    // Batches of requests that were given up.
    EXPECT_TRUE(eventually([&] { return platform_->arenas().used() == 0; }));
  }
  // Functions: `copy` hands its inputs on, `seven` gives x = 7, `faceless` fails with NoFace, `crash` ends its worker,
  // `picky` fails with NoFace for x = 2 and else gives 7, `patient` says it is there and waits for the file `go`.
  void deploy(const std::string& workflow) {
    const auto program = [](const std::string& script) {
      return str("{runtime: process, command: [sh, -c, \"while read line; do ", script,
                 "; done\"], profile: {table: [[1, 1, 0, 5.0, 0.1]]}}\n");
    };
    const std::string seven = "echo '{\\\"x\\\": 7.0}' >&3", no_face = "echo '{\\\"error\\\": \\\"NoFace\\\"}' >&3";
    const auto deployed = live_test::deploy(
        *platform_,
        str("application: a\nslo: 60s\nfunctions:\n",
            "  copy: {runtime: emulated, profile: {table: [[1, 1, 0, 1.0, 0.0], [4, 1, 0, 2.0, 0.0]]}}\n", "  seven: ",
            program(seven), "  faceless: ", program(no_face), "  crash: ", program("kill -9 $PPID; sleep 1000"),
            "  picky: ", program(str("case \\\"$line\\\" in *2.0*) ", no_face, ";; *) ", seven, ";; esac")),  //
            "  patient: ",
            program(str("touch ", file("there"), "; while [ ! -e ", file("go"), " ]; do sleep 0.01; done; ", seven)),
            "workflow:\n", workflow));
    ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  }
  std::future<Answer> ask(const std::vector<float>& x, const std::vector<std::int64_t>& shape,
                          std::optional<Duration> timeout = {}) {
    auto tensors = *live_test::floats(*platform_, "x", x);
    tensors[0].info.shape = shape;
    return call(
        *platform_,
        {.application = "a", .inputs = std::make_shared<const data::Tensors>(std::move(tensors)), .timeout = timeout});
  }
  // The first output as "[shape] values", or what went wrong.
  static std::string text(const Answer& answer) {
    if (answer.kind != AnswerKind::finished) return str(answer.stage, ": ", answer.error);
    if (answer.outputs.empty()) return "nothing";
    const data::Tensor& tensor = answer.outputs.front();
    std::string out = "[";
    for (std::size_t i = 0; i < tensor.info.shape.size(); ++i) out += str(i == 0 ? "" : ",", tensor.info.shape[i]);
    out += "]";
    const bool wide = tensor.info.type == DataType::fp64;  // a program's number
    for (std::size_t at = 0; at < tensor.size; at += wide ? sizeof(double) : sizeof(float)) {
      float number = 0;
      double wide_number = 0;
      if (wide)
        std::memcpy(&wide_number, tensor.bytes().data() + at, sizeof wide_number);
      else
        std::memcpy(&number, tensor.bytes().data() + at, sizeof number);
      out += str(" ", wide ? wide_number : static_cast<double>(number));
    }
    return out;
  }
  // The stages that ran, by name.
  [[nodiscard]] Names ran(const Answer& answer) const {
    Names out = in_order(answer);
    std::sort(out.begin(), out.end());
    return out;
  }
  [[nodiscard]] Names in_order(const Answer& answer) const {
    Names out;
    const auto record = platform_->find_request({}, answer.request);
    for (const StageRecord& stage : record->stages) out.push_back(stage.stage);
    return out;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return str(folder_.path(), "/", name); }
  void wait_for(const std::string& name) const {
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file(name)); })) << name;
  }

  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

TEST_F(ForeachTest, GivesWhatAWorkflowOfTwoStagesMakesOfEveryItemInOrder) {
  deploy(
      "  each: {foreach: {over: request.x, workflow: {a: {function: copy}, b: {function: copy, after: a}}}}\n"
      "  last: {function: copy, after: each, inputs: {x: each.x}}\n");
  const Answer answer = ask({1, 2, 3, 4, 5, 6}, {3, 2}).get();
  EXPECT_EQ(text(answer), "[3,2] 1 2 3 4 5 6");
  EXPECT_EQ(ran(answer), (Names{"each/a", "each/a", "each/a", "each/b", "each/b", "each/b", "last"}));
}

TEST_F(ForeachTest, RunsAsManyItemsAtATimeAsItSays) {
  deploy(
      "  each: {foreach: {over: request.x, limit: 1, workflow: {a: {function: copy}, b: {function: copy, after: "
      "a}}}}\n");
  const Answer answer = ask({1, 2}, {2}).get();
  EXPECT_EQ(text(answer), "[2] 1 2");
  EXPECT_EQ(in_order(answer), (Names{"each/a", "each/b", "each/a", "each/b"}));
}

TEST_F(ForeachTest, RunsNothingForAnEmptyList) {
  deploy(
      "  each: {foreach: {over: request.x, workflow: {a: {function: copy}}}}\n"
      "  last: {function: copy, after: each, inputs: {x: request.x}}\n");
  const Answer answer = ask({}, {0, 2}).get();
  EXPECT_EQ(text(answer), "[0,2]");
  EXPECT_EQ(ran(answer), Names{"last"});
}

TEST_F(ForeachTest, RunsWorkflowsInsideWorkflows) {
  deploy(
      "  first: {function: copy}\n"
      "  rows:\n"
      "    after: first\n"
      "    foreach:\n"
      "      over: first.x\n"
      "      workflow:\n"
      "        whole: {function: copy}\n"
      "        cells: {after: whole, foreach: {over: whole.x, workflow: {a: {function: copy}, b: {function: copy, "
      "after: a}}}}\n"
      "        each: {function: copy, after: cells, foreach: cells.x}\n");
  const Answer answer = ask({1, 2, 3, 4, 5, 6}, {2, 3}).get();
  EXPECT_EQ(text(answer), "[2,3] 1 2 3 4 5 6");
  const Names names = ran(answer);
  EXPECT_EQ(names.size(), 1u + 2 * (1 + 3 * 2 + 3));
  EXPECT_EQ(std::count(names.begin(), names.end(), "rows/cells/b"), 6);
}

TEST_F(ForeachTest, ConditionsInsideHoldForSomeItemsAndNotForOthers) {
  deploy(
      "  each:\n"
      "    foreach:\n"
      "      over: request.x\n"
      "      workflow:\n"
      "        large: {function: seven, when: {request.x: '> 2'}}\n"
      "        small: {function: seven, when: otherwise}\n"
      "        other: {function: copy, after: small, inputs: {x: small.x}, when: {small.x: '== 7'}}\n"
      "  many: {function: copy, after: each, inputs: {x: each.x}, when: {each.x: present}}\n");
  const Answer answer = ask({1, 5, 2}, {3}).get();
  EXPECT_EQ(text(answer), "[3,1] 7 7 7");
  EXPECT_EQ(ran(answer), (Names{"each/large", "each/other", "each/other", "each/small", "each/small", "many"}));
}

TEST_F(ForeachTest, AnItemThatIsKeptAsItIsComesOutBesideThoseThatWereRefined) {
  deploy(
      "  each:\n"
      "    foreach:\n"
      "      over: request.x\n"
      "      workflow:\n"
      "        a: {function: copy}\n"
      "        asis: {pass: true, after: a, when: otherwise}\n"
      "        refine: {function: copy, after: a, when: {a.x: '> 2'}}\n"
      "  last: {function: copy, after: each, inputs: {x: each.x}}\n");
  const Answer answer = ask({1, 5, 2}, {3}).get();
  EXPECT_EQ(text(answer), "[3] 1 5 2");
  EXPECT_EQ(ran(answer), (Names{"each/a", "each/a", "each/a", "each/refine", "last"}));
}

TEST_F(ForeachTest, OneAfterTheOtherTakesItsItemsFromTheOneBefore) {
  deploy(
      "  one: {foreach: {over: request.x, workflow: {a: {function: copy}}}}\n"
      "  two: {after: one, foreach: {over: one.x, workflow: {b: {function: copy}}}}\n");
  const Answer answer = ask({1, 2, 3}, {3, 1}).get();
  EXPECT_EQ(text(answer), "[3,1] 1 2 3");
  EXPECT_EQ(ran(answer).size(), 6u);
}

TEST_F(ForeachTest, AnItemThatFailsFailsTheRequestAndNamesTheOutermostStage) {
  deploy(
      "  first: {function: copy}\n"
      "  each: {after: first, foreach: {over: first.x, workflow: {a: {function: copy}, b: {function: picky, after: "
      "a}}}}\n");
  const Answer answer = ask({1, 2, 3}, {3}).get();
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_EQ(text(answer), "each: NoFace");
  const auto record = platform_->find_request({}, answer.request);
  EXPECT_EQ(record->stage, "each");
  EXPECT_TRUE(std::any_of(record->stages.begin(), record->stages.end(), [](const StageRecord& s) {
    return s.stage == "each/b" && s.function == "picky" && s.error == "NoFace";
  }));
}

TEST_F(ForeachTest, ErrorsAreCaughtInsideForOneItemAndAroundForAll) {
  deploy(
      "  each:\n"
      "    catch: {NoFace: sorry}\n"
      "    foreach:\n"
      "      over: request.x\n"
      "      workflow:\n"
      "        a: {function: picky, catch: {NoFace: b}}\n"
      "        b: {function: seven}\n"
      "  sorry: {function: copy, inputs: {x: request.x}}\n");
  const Answer inside = ask({1, 2, 3}, {3}).get();
  EXPECT_EQ(text(inside), "[3,1] 7 7 7");
  EXPECT_EQ(ran(inside), (Names{"each/a", "each/a", "each/a", "each/b"}));
  deploy(
      "  each: {catch: {NoFace: sorry}, foreach: {over: request.x, workflow: {a: {function: faceless}}}}\n"
      "  sorry: {function: copy, inputs: {x: request.x}}\n");
  const Answer around = ask({1, 2, 3}, {3}).get();
  EXPECT_EQ(text(around), "[3] 1 2 3");
}

TEST_F(ForeachTest, AWorkerThatDiesInsideCostsRetriesAndThenTheRequest) {
  deploy("  each: {foreach: {over: request.x, workflow: {a: {function: copy}, b: {function: crash, after: a}}}}\n");
  const Answer answer = ask({1, 2}, {2}).get();
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_EQ(answer.stage, "each");
  EXPECT_NE(answer.error.find("WorkerFailed"), std::string::npos) << answer.error;
}

TEST_F(ForeachTest, AWorkerKilledHalfWayIsReplacedAndEveryItemIsThere) {
  deploy("  each: {foreach: {over: request.x, workflow: {a: {function: copy}, b: {function: patient, after: a}}}}\n");
  auto asked = ask({1, 2, 3}, {3});
  wait_for("there");
  const auto snapshot = platform_->settled_snapshot();
  for (const InstanceInfo& instance : snapshot->nodes.at(0).instances) {
    if (instance.function == "patient" && instance.pid > 0) ::kill(static_cast<pid_t>(instance.pid), SIGKILL);
  }
  ASSERT_TRUE(eventually([&] { return platform_->snapshot()->worker_crashes > 0; }));
  std::ofstream(file("go")).flush();
  EXPECT_EQ(text(asked.get()), "[3,1] 7 7 7");
}

TEST_F(ForeachTest, ARequestGivenUpHalfWayLeavesNothing) {
  deploy("  each: {foreach: {over: request.x, workflow: {a: {function: copy}, b: {function: patient, after: a}}}}\n");
  auto asked = ask({1, 2, 3}, {3}, Duration::s(2));
  wait_for("there");
  EXPECT_EQ(asked.get().kind, AnswerKind::deadline_exceeded);
}

TEST_F(ForeachTest, MoreItemsThanAllowedAreRefusedByName) {
  deploy("  each: {foreach: {over: request.x, workflow: {a: {function: copy}}}}\n");
  const Answer answer = ask({}, {limits::foreach_items_max + 1, 0}).get();
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_NE(answer.error.find("TooManyItems"), std::string::npos) << answer.error;
}

TEST_F(ForeachTest, CallersAreToldOfListsAndNothingOfWhatIsNotDeclared) {
  const auto model_of = [&](const std::string& name, const std::string& workflow) {
    const auto deployed = live_test::deploy(
        *platform_,
        str("application: ", name, "\nslo: 60s\nfunctions:\n  f: {runtime: emulated, inputs: {x: {type: FP32, ",
            "shape: [2]}}, outputs: {y: {type: FP32, shape: [3]}}, profile: {table: [[1, 1, 0, 1.0, 0.0]]}}\n",
            "workflow:\n", workflow));
    EXPECT_TRUE(deployed.ok()) << deployed.error().message;
    return *platform_->settled_snapshot()->find("default", name);
  };
  const Model list = model_of("list", "  each: {function: f, foreach: request.rows, inputs: {x: request.rows}}\n");
  ASSERT_EQ(list.inputs.size(), 1u);
  EXPECT_EQ(list.inputs.front().name, "rows");
  EXPECT_EQ(list.inputs.front().shape, (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(list.outputs.all().at(0).shape, (std::vector<std::int64_t>{-1, 3}));
  const Model body =
      model_of("body", "  one: {function: f}\n  each: {foreach: {over: request.x, workflow: {a: {function: f}}}}\n");
  EXPECT_TRUE(body.inputs.empty());
  EXPECT_TRUE(body.outputs.empty());
}

TEST_F(ForeachTest, LogsWhatReplaysToTheSameCommands) {
  deploy(
      "  each:\n"
      "    foreach:\n"
      "      over: request.x\n"
      "      workflow:\n"
      "        a: {function: copy, when: {request.x: '> 1'}}\n"
      "        b: {function: copy, when: otherwise}\n"
      "  last: {after: each, foreach: {over: each.x, workflow: {c: {function: copy}}}}\n");
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(ask({1, 2, 3}, {3}));
  for (auto& answer : answers) EXPECT_EQ(text(answer.get()), "[3] 1 2 3");
  platform_.reset();
  const auto replayed = live_test::replay_in(folder_.path());
  ASSERT_TRUE(replayed.ok()) << replayed.error().message;
  EXPECT_FALSE(replayed->difference.has_value());
  EXPECT_GT(replayed->commands, 20u * 3);
}

}  // namespace
}  // namespace sluice::live
