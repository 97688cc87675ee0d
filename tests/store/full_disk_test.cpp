// A full disk, on a small file system of its own that a child process mounts where nobody else sees it.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "store/worlds.h"
#include "store/writer.h"

namespace sluice::store {
namespace {

constexpr int kNotAllowed = 77;

// A namespace of mounts, and of users where the first alone is not allowed.
bool own_mounts(const std::string& directory) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("none", directory.c_str(), "tmpfs", 0, "size=2m") == 0;
}

// Runs `body` in a child with 2 MiB at `directory`; true if none of its expectations failed.
int run_on_small_disk(const TemporaryDirectory& directory, const std::function<void()>& body) {
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    if (!own_mounts(directory.path())) ::_exit(kNotAllowed);
    body();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void expect_full(const Status& status, const std::string& directory) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_TRUE(status.error().message.starts_with("the disk of " + directory + "/sluice.db is full ("))
      << status.error().message;
  EXPECT_NE(status.error().message.find(" MB free)"), std::string::npos) << status.error().message;
}

const std::string kLarge(100'000, 'x');

TEST(FullDisk, IsReportedAndTheStoreGoesOnOnceThereIsRoom) {
  const TemporaryDirectory directory;
  const int code = run_on_small_disk(directory, [&] {
    std::ofstream(directory.file("of somebody else")) << std::string(1'000'000, 'x');
    Store store = opened(directory);
    Status put = Done{};
    std::uint64_t kept = 0;
    for (std::uint64_t id = 1; put.ok() && id < 100; ++id) {
      put = store.put_request(a_request(id), kLarge);
      kept = put ? id : kept;
    }
    expect_full(put, directory.path());
    EXPECT_FALSE(store.in_batch());
    EXPECT_GT(kept, 1u);
    EXPECT_EQ(store.unfinished_requests()->size(), kept);
    EXPECT_EQ(*store.inputs_of(RequestId(kept)), kLarge);
    std::filesystem::remove(directory.file("of somebody else"));
    EXPECT_TRUE(store.finish_request(RequestId(1), met(1), "small"));
    EXPECT_TRUE(store.put_request(a_request(1'000), "small"));
    EXPECT_EQ(ids(*store.unfinished_requests()).back(), 1'000u);
  });
  if (code == kNotAllowed) GTEST_SKIP() << "file systems cannot be mounted here";
  EXPECT_EQ(code, 0);
}

TEST(FullDisk, UndoesTheWholeBatch) {
  const TemporaryDirectory directory;
  const int code = run_on_small_disk(directory, [&] {
    Store store = opened(directory);
    ASSERT_TRUE(store.put_request(a_request(1), "small"));
    ASSERT_TRUE(store.begin_batch());
    for (std::uint64_t id = 2; id <= 40 && store.in_batch(); ++id) (void)store.put_request(a_request(id), kLarge);
    EXPECT_FALSE(store.commit());
    EXPECT_FALSE(store.in_batch());
    EXPECT_EQ(ids(*store.unfinished_requests()), std::vector<std::uint64_t>{1});
    EXPECT_TRUE(store.put_request(a_request(2), "small"));
  });
  if (code == kNotAllowed) GTEST_SKIP() << "file systems cannot be mounted here";
  EXPECT_EQ(code, 0);
}

TEST(FullDisk, IsToldToThoseWhoseWorkItUndidAndToNobodyElse) {
  const TemporaryDirectory directory;
  const int code = run_on_small_disk(directory, [&] {
    std::vector<std::uint64_t> kept;
    std::size_t failed = 0;
    {
      Writer writer(opened(directory));
      for (std::uint64_t id = 1; id <= 60; ++id) {
        writer.post([id](Store& store) { return store.put_request(a_request(id), id < 60 ? kLarge : "small"); },
                    [&, id](const Status& put) {
                      if (put) kept.push_back(id);
                      failed += put ? 0 : 1;
                    });
      }
    }
    EXPECT_EQ(kept.size() + failed, 60u);
    EXPECT_GT(failed, 0u);
    EXPECT_EQ(ids(*opened(directory).unfinished_requests()), kept);
  });
  if (code == kNotAllowed) GTEST_SKIP() << "file systems cannot be mounted here";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace sluice::store
