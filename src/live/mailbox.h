// Mailbox: letters from many threads to one. What comes from outside is bounded, and full means "no", not a longer
// queue; what the platform asks of itself always gets in, since there is no more of it than there are deployments and
// answers.
#pragma once
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice::live {

template <class Letter>
class Mailbox {
 public:
  // `ring` wakes the reader; called when something is there that was not before.
  Mailbox(std::size_t max, std::function<void()> ring) : max_(max), ring_(std::move(ring)) {}

  // False: full, and the letter is as it was.
  [[nodiscard]] bool offer(Letter&& letter) { return put(std::move(letter), max_); }
  void post(Letter letter) { (void)put(std::move(letter), ~std::size_t{0}); }

  // All that is there, in place of what `out` held.
  void take(std::vector<Letter>& out) {
    out.clear();
    const std::lock_guard lock(mutex_);
    out.swap(letters_);
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return letters_.size();
  }
  [[nodiscard]] std::size_t max() const { return max_; }

 private:
  bool put(Letter&& letter, std::size_t most) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      if (letters_.size() >= most) return false;
      first = letters_.empty();
      letters_.push_back(std::move(letter));
    }
    if (first) ring_();
    return true;
  }

  const std::size_t max_;
  const std::function<void()> ring_;
  mutable std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace sluice::live
