// Queues: the invocations that wait, by stage of an application. Places of queues are used again once their application
// is gone; the lowest free ones first.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "policy/view.h"

namespace sluice::core {

class Queues {
 public:
  [[nodiscard]] std::span<const policy::Queue> all() const { return queues_; }
  [[nodiscard]] std::span<const std::uint32_t> busy() const { return busy_; }  // not empty; ascending
  [[nodiscard]] const policy::Queue& operator[](policy::QueueId id) const { return queues_[id.index()]; }
  [[nodiscard]] policy::Queue& operator[](policy::QueueId id) { return queues_[id.index()]; }

  // Gives the queue a place and its id.
  policy::QueueId put(policy::Queue queue);
  // REQUIRES: nothing waits there.
  void remove(policy::QueueId id);
  [[nodiscard]] bool is_free(policy::QueueId id) const { return free_.contains(id.value()); }

  // REQUIRES: its invocation has a larger number than all that waited there before.
  void push(policy::QueueId id, const policy::Waiting& waiting);
  [[nodiscard]] policy::Waiting take(policy::QueueId id, std::size_t at);
  // O(log n). REQUIRES: the invocation waits there.
  [[nodiscard]] const policy::Waiting& find(policy::QueueId id, InvocationId invocation) const;
  // The invocation does not wait any more, but stays in the list until settle() takes out all that left, in one pass. A
  // machine that is lost sends thousands of requests back to their beginning: taken out one at a time, each would move
  // all invocations behind it.
  void leave(policy::QueueId id, InvocationId invocation);
  void settle();
  // Without those that left.
  [[nodiscard]] std::size_t waiting(policy::QueueId id) const {
    const std::size_t left = id.index() < left_of_.size() ? left_of_[id.index()] : 0;
    return queues_[id.index()].waiting.size() - left;
  }
  // Whoever waits for a promise there waits for anything that fits.
  void forget_promises(InvokerId invoker);

  // For loading: `places` empty queues, of which the next to be put may have those in `free` only.
  void reset(std::size_t places);
  void set_free(std::set<std::uint32_t> free) { free_ = std::move(free); }
  [[nodiscard]] const std::set<std::uint32_t>& free() const { return free_; }
  void visit(Archive& archive);  // who waits, and how batches went

 private:
  [[nodiscard]] std::size_t position(policy::QueueId id, InvocationId invocation) const;
  void erase(policy::QueueId id, std::span<const std::pair<policy::QueueId, InvocationId>> gone);  // ascending
  void mark_busy(policy::QueueId id);
  void mark_idle(policy::QueueId id);

  std::vector<policy::Queue> queues_;  // QueueId is the position
  std::set<std::uint32_t> free_;       // of no application
  std::vector<std::uint32_t> busy_;
  // Who left and is still in a list, and how many by queue. Nobody between two events.
  std::vector<std::pair<policy::QueueId, InvocationId>> left_;
  std::vector<std::size_t> left_of_;
};

}  // namespace sluice::core
