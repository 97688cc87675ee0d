// Lanes: threads that take tasks in turn. A thread is made when a task finds none idle, up to a number, and kept.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/time.h"
#include "worker/stopwatch.h"

namespace sluice::worker {

class Lanes {
 public:
  // `spin`: how long an idle thread looks for the next task before it sleeps. Waking up takes 10 to 50 µs.
  explicit Lanes(std::size_t most, Duration spin = {}) : most_(most), spin_(spin) {}
  ~Lanes() { stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // By one thread, and by any once there are as many threads as there may be. False: there is no thread and none can be
  // made.
  [[nodiscard]] bool post(std::function<void()> task) {
    bool enough = false;
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      waiting_.store(tasks_.size(), std::memory_order_relaxed);
      enough = idle_ >= tasks_.size() || threads_.size() == most_;
    }
    if (!enough && !add() && threads_.empty()) return false;
    posted_.notify_one();
    return true;
  }
  // Finishes what has begun; the rest is dropped.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    posted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  bool add() {
    try {
      threads_.emplace_back([this] { loop(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      if (spin_ > Duration{} && tasks_.empty() && !stopping_) {
        lock.unlock();
        const Stopwatch since;
        while (waiting_.load(std::memory_order_relaxed) == 0 && since.elapsed() < spin_) {
        }
        lock.lock();
      }
      posted_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      --idle_;
      if (stopping_) return;
      {
        const std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        waiting_.store(tasks_.size(), std::memory_order_relaxed);
        lock.unlock();
        task();
      }  // what it held goes without the lock
      lock.lock();
    }
  }

  std::size_t most_;
  Duration spin_;
  std::atomic<std::size_t> waiting_ = 0;  // tasks, for those that look without the lock
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  std::size_t idle_ = 0;                     // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sluice::worker
