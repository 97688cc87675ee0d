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

  // `count` letters that the reader takes together, the i-th of them `make(i)`. False: there is no room for all of
  // them; none was made.
  template <class Make>
  [[nodiscard]] bool offer(std::size_t count, Make make) {
    return put(count, make, max_);
  }
  void post(Letter letter) {
    (void)put(
        1, [&](std::size_t) { return std::move(letter); }, ~std::size_t{0});
  }

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
  template <class Make>
  bool put(std::size_t count, Make make, std::size_t most) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      if (most < count || letters_.size() > most - count) return false;
      first = letters_.empty();
      for (std::size_t i = 0; i < count; ++i) letters_.push_back(make(i));
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
