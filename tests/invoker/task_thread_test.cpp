#include "invoker/task_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <vector>

namespace sluice::invoker {
namespace {

std::vector<std::thread::id> threads_of_three(TaskThread& thread) {
  std::vector<std::thread::id> seen;
  std::promise<void> all;
  for (int i = 0; i < 3; ++i)
    thread.post([&, i] {
      seen.push_back(std::this_thread::get_id());
      if (i == 2) all.set_value();
    });
  all.get_future().wait();
  thread.stop();
  return seen;
}

// A program that a thread has started may end with it (a parent's death signal).
TEST(TaskThread, DoesSmallTasksInOneThread) {
  TaskThread thread;
  const auto seen = threads_of_three(thread);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 1u);
}

TEST(TaskThread, DoesLargeTasksOneAfterTheOtherInThreadsThatEnd) {
  TaskThread thread(TaskThread::Tasks::large);
  std::atomic<int> ended = 0;
  struct AtEnd {
    std::atomic<int>* count = nullptr;
    ~AtEnd() {
      if (count != nullptr) ++*count;
    }
  };
  std::vector<int> ended_before;
  std::promise<void> all;
  for (int i = 0; i < 3; ++i)
    thread.post([&, i] {
      static thread_local AtEnd at_end;
      ended_before.push_back(ended);
      at_end.count = &ended;
      if (i == 2) all.set_value();
    });
  all.get_future().wait();
  thread.stop();
  EXPECT_EQ(ended_before, (std::vector{0, 1, 2}));
  EXPECT_EQ(ended, 3);
}

TEST(TaskThread, FinishesTheTaskAtHandAndDropsTheOthers) {
  for (const auto tasks : {TaskThread::Tasks::small, TaskThread::Tasks::large}) {
    TaskThread thread(tasks);
    auto of_the_second = std::make_shared<int>();
    std::promise<void> begun;
    std::vector<int> done;
    thread.post([&, second = std::weak_ptr(of_the_second)] {
      begun.set_value();
      while (!second.expired()) std::this_thread::yield();  // until it is dropped
      done.push_back(0);
    });
    thread.post([&done, mine = std::move(of_the_second)] { done.push_back(1); });
    begun.get_future().wait();
    thread.stop();
    thread.post([&done] { done.push_back(2); });
    EXPECT_EQ(done, std::vector{0});
  }
}

}  // namespace
}  // namespace sluice::invoker
