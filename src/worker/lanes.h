// Lanes: threads that take tasks in turn. A thread is made when a task finds none idle, up to a number, and kept.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sluice::worker {

class Lanes {
 public:
  explicit Lanes(std::size_t most) : most_(most) {}
  ~Lanes() { stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // By one thread. False: there is no thread and none can be made.
  [[nodiscard]] bool post(std::function<void()> task) {
    bool enough = false;
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
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
      posted_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      --idle_;
      if (stopping_) return;
      {
        const std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
      }  // what it held goes without the lock
      lock.lock();
    }
  }

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  std::size_t idle_ = 0;                     // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sluice::worker
