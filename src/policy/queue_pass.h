// QueuePass: the queues of one instant in round robin, one batch each in turn, until none of them can start another.
// Used by schedulers without an order of their own. A queue that found no place is not asked again at the same instant:
// room only shrinks until the next event.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/view.h"

namespace sluice::policy {

class QueuePass {
 public:
  void begin(const View& view) {
    pass_.assign(view.busy_queues.begin(), view.busy_queues.end());
    std::rotate(pass_.begin(), std::lower_bound(pass_.begin(), pass_.end(), first_), pass_.end());
    if (!pass_.empty()) first_ = pass_.front() + 1;
    at_ = 0;
  }
  // The queue whose turn it is; nullptr: nothing more to do.
  [[nodiscard]] const Queue* next(const View& view) {
    while (!pass_.empty()) {
      if (at_ >= pass_.size()) at_ = 0;
      const Queue& queue = view.queues[pass_[at_]];
      if (!queue.waiting.empty()) return &queue;
      leave_out();
    }
    return nullptr;
  }
  // Whether the queue that was next started a batch.
  void decided(bool booked) {
    if (booked)
      ++at_;
    else
      leave_out();
  }
  void visit(Archive& archive) { archive(first_); }

 private:
  void leave_out() { pass_.erase(pass_.begin() + static_cast<std::ptrdiff_t>(at_)); }

  std::uint32_t first_ = 0;  // the queue after the one that was first last time
  // Of one instant only: not part of the state.
  std::vector<std::uint32_t> pass_;
  std::size_t at_ = 0;
};

}  // namespace sluice::policy
