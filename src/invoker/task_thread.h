// TaskThread: does what is posted, one after the other, away from the threads that must not wait.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "invoker/memory.h"

namespace sluice::invoker {

class TaskThread {
 public:
  // An allocator keeps for a thread what the thread has freed, and gives it back to the system when the thread has
  // ended. So tasks that take much memory for a while (plans, large bodies) are done in a thread each.
  enum class Tasks { small, large };

  explicit TaskThread(Tasks tasks = Tasks::small) : large_(tasks == Tasks::large), thread_([this] { loop(); }) {}
  ~TaskThread() { stop(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      tasks_.push_back(std::move(task));
    }
    posted_.notify_one();
  }
  // Finishes the task at hand; the others are dropped.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      tasks_.clear();
    }
    posted_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  static constexpr std::chrono::milliseconds kFirstRest{100};
  static constexpr std::chrono::seconds kRest{10};  // again and again: others free what was made here

  void loop() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        wait_for_task(lock);
        if (stopping_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      large_ ? apart(task) : task();
    }
  }
  // Where the system gives no thread it is done here.
  static void apart(std::function<void()>& task) {
    const auto run = [&] { std::exchange(task, nullptr)(); };  // what it holds goes there as well
    try {
      std::thread(run).join();
    } catch (const std::system_error&) {
      run();
    }
  }
  void wait_for_task(std::unique_lock<std::mutex>& lock) {
    const auto something = [&] { return stopping_ || !tasks_.empty(); };
    if (!large_) return posted_.wait(lock, something);
    std::chrono::milliseconds rest = kFirstRest;
    while (!posted_.wait_for(lock, rest, something)) {
      lock.unlock();
      give_back_memory();
      lock.lock();
      rest = kRest;
    }
  }

  const bool large_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::invoker
