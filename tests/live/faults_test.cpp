// Workers that fail while requests are under way: every request is answered, others do not notice, nothing is left
// over.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "invoker/scene.h"
#include "live/live_server.h"
#include "support/eventually.h"
#include "support/places.h"
#include "support/sanitized.h"

namespace sluice::live {
namespace {

using invoker_test::Held;
using invoker_test::held_now;
using live_test::call;
using live_test::deploy;
using live_test::floats;
using test::eventually;

// Batches of one: nobody waits for company.
constexpr const char* kProfile = "profile: {table: [[1, 1, 0, 5.0, 0.1]]}";

std::string application(const std::string& name, const std::string& function) {
  return str("application: ", name, "\nslo: 60s\nfunctions: {", name, ": {", function, ", ", kProfile,
             "}}\nworkflow: {", name, ": {}}\n");
}
std::string shell(const std::string& script) {
  return str("runtime: process, command: [sh, -c, \"", script, "\"]");
}

// Whatever a test does, the process is as it was when the platform has gone.
class FaultsTest : public testing::Test {
 protected:
  void start(const std::function<void(PlatformOptions&)>& change = {}) {
    PlatformOptions options = live_test::options_in(folder_.path());
    options.agent.hang_least = Duration::ms(400);
    if (change) change(options);
    platform_ = std::move(Platform::start(std::move(options)).value());
    const auto deployed = deploy(*platform_, application("other", "runtime: emulated"));
    ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  }
  void TearDown() override {
    if (platform_ != nullptr) {
      EXPECT_TRUE(platform_->drain(Duration::s(30)));
      // What a worker that was ended could write is free when it is gone.
      const Time until = data::now() + Duration::s(30);
      while (platform_->arenas().used() > 0 && data::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(platform_->arenas().used(), 0u);
    }
    platform_.reset();
    EXPECT_EQ(held_now(), before_);
  }
  void add(const std::string& name, const std::string& function) {
    const auto deployed = deploy(*platform_, application(name, function));
    ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  }
  std::future<Answer> ask(const std::string& name) {
    return call(*platform_, {.application = name, .inputs = floats(*platform_, "x", {1, 2})});
  }
  // One request of `name`, with five of `other` beside it, which must not notice.
  Answer ask_beside_others(const std::string& name) {
    auto asked = ask(name);
    std::vector<std::future<Answer>> others;
    for (int i = 0; i < 5; ++i) others.push_back(ask("other"));
    for (auto& other : others) {
      const Answer answer = other.get();
      EXPECT_EQ(answer.kind, AnswerKind::finished) << answer.error;
      const auto record = platform_->find_request({}, answer.request);
      EXPECT_EQ(record->stages.size(), 1u);
    }
    return asked.get();
  }
  [[nodiscard]] std::vector<StageRecord> stages_of(const Answer& answer) {
    return platform_->find_request({}, answer.request)->stages;
  }
  // The process of a function, once it has one.
  [[nodiscard]] pid_t worker_of(const std::string& function) {
    pid_t out = std::numeric_limits<pid_t>::max();  // nobody's, so that a signal to it does no harm
    EXPECT_TRUE(eventually([&] {
      const auto snapshot = platform_->snapshot();
      for (const InstanceInfo& instance : snapshot->nodes.at(0).instances) {
        if (instance.function == function && instance.pid > 0) out = static_cast<pid_t>(instance.pid);
      }
      return out != std::numeric_limits<pid_t>::max();
    }));
    return out;
  }
  std::string file(const std::string& name) const { return str(folder_.path(), "/", name); }

  Held before_ = held_now();
  live_test::TemporaryFolder folder_;
  std::mutex mutex_;
  std::vector<std::string> said_;  // guarded by mutex_
  std::unique_ptr<Platform> platform_;
};

TEST_F(FaultsTest, TheOperatorIsToldHowAWorkerEnded) {
  start([this](PlatformOptions& options) {
    options.say = [this](const Remark& remark) {
      const std::lock_guard lock(mutex_);
      said_.push_back(remark.text);
    };
  });
  add("f", "runtime: emulated");
  EXPECT_EQ(ask("f").get().kind, AnswerKind::finished);
  ::kill(worker_of("f"), SIGKILL);
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex_);
    return std::any_of(said_.begin(), said_.end(),
                       [](const std::string& line) { return line.find("signal 9") != std::string::npos; });
  }));
}

TEST_F(FaultsTest, AWorkerKilledWhileIdleIsReplacedWhenItIsNeeded) {
  start();
  add("f", "runtime: emulated");
  EXPECT_EQ(ask("f").get().kind, AnswerKind::finished);
  const pid_t first = worker_of("f");
  ::kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return platform_->snapshot()->worker_crashes > 0; }));
  const Answer answer = ask_beside_others("f");
  EXPECT_EQ(answer.kind, AnswerKind::finished) << answer.error;
  EXPECT_EQ(stages_of(answer).size(), 1u);
  EXPECT_NE(worker_of("f"), first);
}

TEST_F(FaultsTest, AWorkerKilledWithABatchCostsItOneRetry) {
  start();
  // Its first run says that it is there and waits for its end; the next ones answer.
  add("f", shell(str("while read line; do if [ ! -e ", file("ran"), " ]; then touch ", file("ran"),
                     "; echo first; sleep 1000; fi; echo second; echo '{\\\"y\\\": 1.0}' >&3; done")));
  auto asked = ask("f");
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file("ran")); }));
  ::kill(worker_of("f"), SIGKILL);
  const Answer answer = asked.get();
  ASSERT_EQ(answer.kind, AnswerKind::finished) << answer.error;
  const auto stages = stages_of(answer);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_NE(stages[0].error.find("'f'"), std::string::npos) << stages[0].error;
  EXPECT_GT(stages[0].end, stages[0].start);
  EXPECT_EQ(stages[1].error, "");
  EXPECT_EQ(stages[1].log, std::vector<std::string>{"second"});
  EXPECT_TRUE(eventually([&] { return platform_->snapshot()->worker_crashes == 1; }));
  EXPECT_EQ(platform_->snapshot()->retries, 1u);
}

TEST_F(FaultsTest, ABatchThatHangsOnceIsRunAgain) {
  start();
  add("f", shell(str("while read line; do if [ ! -e ", file("ran"), " ]; then touch ", file("ran"),
                     "; echo hanging; sleep 1000; fi; echo '{\\\"y\\\": 1.0}' >&3; done")));
  const Answer answer = ask_beside_others("f");
  ASSERT_EQ(answer.kind, AnswerKind::finished) << answer.error;
  const auto stages = stages_of(answer);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_NE(stages[0].error.find("did not answer in time"), std::string::npos) << stages[0].error;
  EXPECT_EQ(stages[0].log, std::vector<std::string>{"hanging"});
}

TEST_F(FaultsTest, AFunctionThatAlwaysHangsFailsItsRequestsWithItsName) {
  start();
  add("f", shell("echo started; sleep 1000"));
  const Answer answer = ask_beside_others("f");
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_EQ(answer.stage, "f");
  EXPECT_NE(answer.error.find("'f'"), std::string::npos) << answer.error;
}

TEST_F(FaultsTest, AFunctionThatAlwaysEndsItsWorkerFailsItsRequestsWithItsName) {
  start();
  add("f", shell("read line; echo this is the end; kill -9 $PPID; sleep 1000"));
  const Answer answer = ask_beside_others("f");
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_NE(
      answer.error.find("'f' was killed by signal 9 (SIGKILL) from outside of Sluice, as the system does where its "
                        "memory runs out; it printed last: this is the end"),
      std::string::npos)
      << answer.error;
  const auto stages = stages_of(answer);
  ASSERT_EQ(stages.size(), 4u);  // and three more times
  EXPECT_EQ(stages[3].log, std::vector<std::string>{"this is the end"});
}

TEST_F(FaultsTest, AProgramThatEndsIsStartedAgain) {
  start();
  add("f", shell("read line; echo '{\\\"y\\\": 1.0}' >&3; read line; exit 3"));
  EXPECT_EQ(ask("f").get().kind, AnswerKind::finished);
  const Answer second = ask("f").get();
  EXPECT_EQ(second.kind, AnswerKind::failed);
  EXPECT_NE(second.error.find("exited with code 3"), std::string::npos) << second.error;
  EXPECT_EQ(second.stage, "f");
  EXPECT_EQ(ask("f").get().kind, AnswerKind::finished);
}

class LeakTest : public FaultsTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, LeakTest, testing::Bool(),
                         [](const auto& limits) { return limits.param ? "ByControlGroups" : "WithoutThem"; });

// 4 MB more with every request, 20 MB allowed; ten times as many with a sanitizer. A control group ends the program,
// which costs a request; looking ends the worker between two.
TEST_P(LeakTest, OneThatTakesMoreAndMoreMemoryIsReplacedAndAllAreAnswered) {
  start([&](PlatformOptions& options) { options.agent.control_groups = GetParam(); });
  add("f", str("runtime: process, command: [", test::burn(), ", '", test::kSanitized ? 40 : 4,
               "'], memory: ", 20 + test::kSanitizerMb, "MB"));
  int failed = 0;
  for (int i = 0; i < 1'000 && failed == 0 && platform_->snapshot()->worker_crashes == 0; ++i) {
    const Answer answer = ask_beside_others("f");
    if (answer.kind == AnswerKind::finished) continue;
    EXPECT_NE(answer.error.find("signal 9"), std::string::npos) << answer.error;
    ++failed;
  }
  EXPECT_TRUE(failed == 1 || platform_->snapshot()->worker_crashes > 0);
  EXPECT_EQ(ask_beside_others("f").kind, AnswerKind::finished);
}

struct Manner {
  const char* name;
  const char* why;
};
void PrintTo(const Manner& manner, std::ostream* out) {
  *out << manner.name;
}
class HostileTest : public FaultsTest, public testing::WithParamInterface<Manner> {};
INSTANTIATE_TEST_SUITE_P(, HostileTest,
                         testing::Values(Manner{"silent at load", "did not answer in time"},
                                         Manner{"ends at load", "the library is not there"},
                                         Manner{"fails to load", "the model is not there"},
                                         Manner{"speaks garbage", "rubbish"},
                                         Manner{"answers another batch", "was not asked"},
                                         Manner{"claims the memory behind", "not its own"},
                                         Manner{"floods its log", "did not answer in time"},
                                         Manner{"never reads", "did not answer in time"}));

TEST_P(HostileTest, FailsItsOwnRequestsOnlyWithItsName) {
  start([](PlatformOptions& options) {
    options.agent.spawner.worker = test::hostile_worker();
    options.agent.load_max = Duration::ms(400);
  });
  add(GetParam().name, "runtime: emulated");
  const Answer answer = ask_beside_others(GetParam().name);
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_EQ(answer.stage, GetParam().name);
  EXPECT_NE(answer.error.find(GetParam().why), std::string::npos) << answer.error;
  EXPECT_NE(answer.error.find(str("'", GetParam().name, "'")), std::string::npos) << answer.error;
}

TEST_F(FaultsTest, AProgramThatIsNotThereIsNotDeployed) {
  start();
  const auto deployed = deploy(*platform_, application("f", "runtime: process, command: [/no/such/program]"));
  ASSERT_FALSE(deployed.ok());
  EXPECT_NE(deployed.error().message.find("function 'f' does not work"), std::string::npos) << deployed.error().message;
  EXPECT_NE(deployed.error().message.find("/no/such/program"), std::string::npos) << deployed.error().message;
}

TEST_F(FaultsTest, AProgramThatIsGoneSinceFailsItsRequestsWithItsName) {
  start();
  const std::string program = testing::TempDir() + "sluice-gone-" + std::to_string(::getpid());
  std::ofstream(program) << "#!/bin/sh\nwhile read line; do echo '{\"y\": 1.0}' >&3; done\n";
  std::filesystem::permissions(program, std::filesystem::perms::all);
  add("f", str("runtime: process, command: [", program, "]"));
  ASSERT_EQ(ask("f").get().kind, AnswerKind::finished);
  std::filesystem::remove(program);
  ::kill(worker_of("f"), SIGKILL);
  ASSERT_TRUE(eventually([&] { return platform_->snapshot()->worker_crashes > 0; }));
  const Answer answer = ask_beside_others("f");
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_NE(answer.error.find("'f' cannot be loaded"), std::string::npos) << answer.error;
  EXPECT_NE(answer.error.find(program), std::string::npos) << answer.error;
}

TEST_F(FaultsTest, AModelFileThatIsGoneFailsRequestsWithItsName) {
  start([](PlatformOptions& options) {
    options.agent.spawner.python = SLUICE_PYTHON;
    options.agent.spawner.python_worker = test::in_source("src/engine/python/sluice_worker.py");
  });
  const auto deployed = deploy(*platform_, application("f", "runtime: python, model: f.py"),
                               {{"f.py", "def run(inputs): return inputs\n"}});
  ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  std::filesystem::remove_all(file("models"));
  ::kill(worker_of("f"), SIGKILL);
  ASSERT_TRUE(eventually([&] { return platform_->snapshot()->worker_crashes > 0; }));
  const Answer answer = ask_beside_others("f");
  EXPECT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_NE(answer.error.find("'f' cannot be loaded"), std::string::npos) << answer.error;
}

}  // namespace
}  // namespace sluice::live
