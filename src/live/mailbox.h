// Mailbox: letters from many threads to one. What comes from outside is bounded, and full means "no", not a longer queue; what
// the scheduler itself asked for always gets in, since there is no more of it than there are commands.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "data/clock.h"

namespace sluice::live {

template <class Letter>
class Mailbox {
 public:
  explicit Mailbox(std::size_t max) : max_(max) {}

  // False: full.
  [[nodiscard]] bool offer(Letter letter) { return put(std::move(letter), max_); }
  void post(Letter letter) { (void)put(std::move(letter), ~std::size_t{0}); }

  // All that is there, waiting for something until `until` (nothing: for ever).
  void take(std::vector<Letter>& out, std::optional<Time> until) {
    out.clear();
    std::unique_lock lock(mutex_);
    const auto some = [&] { return !letters_.empty(); };
    if (!until) {
      waiting_ = true;
      posted_.wait(lock, some);
    } else if (letters_.empty()) {
      const std::int64_t ns = (*until - data::now()).count_ns();
      waiting_ = true;
      if (ns > 0) posted_.wait_for(lock, std::chrono::nanoseconds(ns), some);
    }
    waiting_ = false;
    out.swap(letters_);
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return letters_.size();
  }
  [[nodiscard]] std::size_t max() const { return max_; }

 private:
  bool put(Letter letter, std::size_t most) {
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      if (letters_.size() >= most) return false;
      wake = letters_.empty() && waiting_;
      letters_.push_back(std::move(letter));
    }
    if (wake) posted_.notify_one();
    return true;
  }

  const std::size_t max_;
  mutable std::mutex mutex_;
  std::condition_variable posted_;
  bool waiting_ = false;
  std::vector<Letter> letters_;
};

}  // namespace sluice::live
