// SearchMemo: answers of a search by queue, batch cap and budget in whole milliseconds. An answer is a function of its
// key alone and keeps the count of its work, so that a scheduler with a memo decides and is charged as without one; it
// is derived, never saved. Bounded: a full one starts anew.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "plan/candidate.h"
#include "policy/view.h"

namespace sluice::policy {

struct SearchKey {
  QueueId queue;
  plan::BatchCap cap = 0;
  std::int64_t budget_ms = 0;
  friend bool operator==(const SearchKey&, const SearchKey&) = default;
};

// A budget as searches with a memo see it: rounded down to 1 ms. Nothing takes less than no time, so all that is
// overdue is the same search. REQUIRES: ms < 9e18.
[[nodiscard]] inline std::int64_t whole_ms(double ms) {
  return static_cast<std::int64_t>(std::floor(std::max(ms, -1.0)));
}

template <class Answer>
class SearchMemo {
 public:
  explicit SearchMemo(std::size_t entries_max = 100'000) : entries_max_(entries_max) {}

  [[nodiscard]] const Answer* find(const SearchKey& key) const {
    const auto it = answers_.find(key);
    return it == answers_.end() ? nullptr : &it->second;
  }
  // The answer stays valid until the next put.
  const Answer& put(const SearchKey& key, Answer answer) {
    if (answers_.size() >= entries_max_) answers_.clear();
    return answers_.insert_or_assign(key, std::move(answer)).first->second;
  }
  // What answers are made from has changed.
  void clear() { answers_.clear(); }
  [[nodiscard]] std::size_t size() const { return answers_.size(); }

 private:
  struct Mix {
    std::size_t operator()(const SearchKey& key) const {
      const std::uint64_t a = (std::uint64_t{key.queue.value()} << 32) | key.cap;
      const std::uint64_t mixed =
          (a * 0x9E3779B97F4A7C15u ^ static_cast<std::uint64_t>(key.budget_ms)) * 0xD6E8FEB86659FD93u;
      return static_cast<std::size_t>(mixed ^ (mixed >> 32));
    }
  };
  std::size_t entries_max_;
  std::unordered_map<SearchKey, Answer, Mix> answers_;  // looked up, never walked
};

}  // namespace sluice::policy
