// What the daemons of MPS are told. The program is a script that writes down how it was called.
#include "invoker/mps.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sluice::invoker {
namespace {

class MpsTest : public testing::Test {
 protected:
  MpsTest() { std::filesystem::create_directories(folder_); }
  ~MpsTest() override { std::filesystem::remove_all(folder_); }
  std::string script(const std::string& last) const {
    std::ofstream(folder_ + "/control")
        << "#!/bin/sh\necho \"$* $CUDA_VISIBLE_DEVICES $CUDA_MPS_PIPE_DIRECTORY\" `cat` >> " << folder_
        << "/calls\ntest -d \"$CUDA_MPS_LOG_DIRECTORY\" || exit 9\n"
        << last << "\n";
    ::chmod((folder_ + "/control").c_str(), 0755);
    return folder_ + "/control";
  }
  [[nodiscard]] std::string calls() const {
    std::ostringstream out;
    out << std::ifstream(folder_ + "/calls").rdbuf();
    return out.str();
  }
  const std::string folder_ = testing::TempDir() + "sluice-mps-test-" + std::to_string(::getpid());
  const std::vector<GpuDevice> gpus_{{.uuid = "GPU-a"}, {.uuid = "GPU-b"}};
};

TEST_F(MpsTest, StartsADaemonForEachGpuAndEndsThem) {
  std::string wanted, folder;
  {
    const auto mps = Mps::start(gpus_, script("exit 0"));
    ASSERT_TRUE(mps.ok()) << mps.error().message;
    const std::string first = (*mps)->environment(0).front(), second = (*mps)->environment(1).front();
    ASSERT_TRUE(first.starts_with("CUDA_MPS_PIPE_DIRECTORY=/tmp/sluice-mps-"));
    EXPECT_NE(first, second);
    const std::string a = first.substr(first.find('/')), b = second.substr(second.find('/'));
    folder = std::filesystem::path(a).parent_path().parent_path();
    wanted = "-d -multiuser-server GPU-a " + a + "\n-d -multiuser-server GPU-b " + b + "\n";
    EXPECT_EQ(calls(), wanted);
    wanted += "  " + a + " quit\n  " + b + " quit\n";
  }
  EXPECT_EQ(calls(), wanted);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(MpsTest, EndsWhatAKilledServerLeft) {
  const std::string left = "/tmp/sluice-mps-4194305-abcdef";  // no process has such a number
  const std::string alive = "/tmp/sluice-mps-" + std::to_string(::getppid()) + "-abcdef";
  for (const std::string& folder : {left, alive}) {
    for (const char* name : {"/0/pipe", "/0/log"}) std::filesystem::create_directories(folder + name);
  }
  ASSERT_TRUE(Mps::start({}, script("exit 0")).ok());
  EXPECT_EQ(calls(), "  " + left + "/0/pipe quit\n");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(alive));
  std::filesystem::remove_all(alive);
}

TEST_F(MpsTest, SaysWhyThereIsNoneAndLeavesNothing) {
  const auto second_fails = Mps::start(gpus_, script("test \"$CUDA_VISIBLE_DEVICES\" != GPU-b"));
  ASSERT_FALSE(second_fails.ok());
  EXPECT_NE(second_fails.error().message.find("cannot be used for GPU-b: it ended with status 1"), std::string::npos);
  EXPECT_NE(calls().find("quit\n"), std::string::npos);  // the first
  const auto none = Mps::start(gpus_, folder_ + "/nothing");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace sluice::invoker
