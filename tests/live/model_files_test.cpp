// Files of models: kept by content while something may load them, and gone after that.
#include "live/model_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "live/live_server.h"
#include "support/eventually.h"
#include "support/places.h"

namespace sluice::live {
namespace {

using live_test::call;
using live_test::floats;
using live_test::options_in;
using test::eventually;

constexpr const char* kDocument = R"(
application: app
slo: {latency: 60s}
functions: {f: {runtime: python, model: f.py, memory: 100MB, profile: {table: [[1, 1, 0, 5.0, 1.0]]}}}
workflow: {f: {}}
)";

class ModelFilesTest : public testing::Test {
 protected:
  ModelFilesTest() { start(); }
  void start() {
    platform_.reset();
    PlatformOptions options = options_in(folder_.path());
    options.agent.spawner.python = SLUICE_PYTHON;
    options.agent.spawner.python_worker = test::in_source("src/engine/python/sluice_worker.py");
    platform_ = std::move(Platform::start(std::move(options)).value());
  }
  Result<Deployed> deploy(const std::string& model, const std::string& name = "app", bool dry_run = false) {
    std::string document = kDocument;
    document.replace(document.find("app\n"), 3, name);
    std::promise<Result<Deployed>> done;
    platform_->deploy({.principal = {.role = Role::deployer},
                       .main = "app.yaml",
                       .files = {{"app.yaml", document}, {"f.py", "def run(inputs): return inputs\n" + model}},
                       .dry_run = dry_run},
                      [&](Result<Deployed> deployed) { done.set_value(std::move(deployed)); });
    return done.get_future().get();
  }
  void remove(const std::string& name) {
    std::promise<Status> done;
    platform_->remove({}, name, [&](const Status& status) { done.set_value(status); });
    ASSERT_TRUE(done.get_future().get());
  }
  [[nodiscard]] std::size_t files() const {
    std::error_code none;
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() + "/models", none))
      count += entry.is_directory() ? 1 : 0;
    return count;
  }
  [[nodiscard]] bool come_to(std::size_t count) const {
    return eventually([&] { return files() == count; });
  }

  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

TEST_F(ModelFilesTest, GoWithTheLastApplicationThatHasThem) {
  ASSERT_TRUE(deploy("one = 1", "first"));
  ASSERT_TRUE(deploy("one = 1", "second"));
  EXPECT_EQ(files(), 1u);
  remove("first");
  ASSERT_TRUE(deploy("two = 2", "third"));
  EXPECT_EQ(files(), 2u);
  remove("second");
  EXPECT_TRUE(come_to(1));
  remove("third");
  EXPECT_TRUE(come_to(0));
}

TEST_F(ModelFilesTest, OfAnOldVersionGoWhenANewOneTakesItsPlace) {
  ASSERT_TRUE(deploy("one = 1"));
  ASSERT_TRUE(deploy("two = 2"));
  EXPECT_TRUE(come_to(1));
  ASSERT_TRUE(deploy("one = 1"));
  EXPECT_TRUE(come_to(1));
}

TEST_F(ModelFilesTest, ThatNobodyHasAnyMoreGoAtTheNextStart) {
  ASSERT_TRUE(deploy("one = 1"));
  std::filesystem::create_directories(folder_.path() + "/models/of-a-server-that-was-killed");
  EXPECT_EQ(files(), 2u);
  start();
  EXPECT_TRUE(come_to(1));
}

TEST_F(ModelFilesTest, OfADeploymentThatIsOnlyTriedOrRefusedAreNotKept) {
  ASSERT_TRUE(deploy("one = 1", "app", true));
  EXPECT_TRUE(come_to(0));
  ASSERT_FALSE(deploy("one = 1", "app, tenant: nobody"));
  EXPECT_TRUE(come_to(0));
}

TEST(ModelFiles, AreHeldByEveryLease) {
  const live_test::TemporaryFolder folder;
  ModelFiles models(folder.path());
  Application application{.name = "app"};
  application.functions.push_back({.name = "f", .cpu = Body{.model = *models.keep("f.py", "one = 1")}});
  auto first = models.hold(application), second = models.hold(application);
  const auto there = [&] { return std::filesystem::exists(application.functions[0].cpu->model); };
  first.reset();
  models.collect();
  EXPECT_TRUE(there());
  second.reset();
  models.collect();
  EXPECT_FALSE(there());
}

}  // namespace
}  // namespace sluice::live
