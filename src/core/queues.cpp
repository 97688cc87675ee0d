#include "core/queues.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::core {

policy::QueueId Queues::put(policy::Queue queue) {
  if (free_.empty()) {
    free_.insert(static_cast<std::uint32_t>(queues_.size()));
    queues_.emplace_back();
  }
  const policy::QueueId id(free_.extract(free_.begin()).value());
  queue.id = id;
  queues_[id.index()] = std::move(queue);
  return id;
}

void Queues::remove(policy::QueueId id) {
  CHECK(queues_[id.index()].waiting.empty());
  queues_[id.index()] = {.id = id};
  free_.insert(id.value());
}

void Queues::push(policy::QueueId id, const policy::Waiting& waiting) {
  auto& list = queues_[id.index()].waiting;
  CHECK(list.empty() || list[list.size() - 1].invocation < waiting.invocation);
  list.push_back(waiting);
  mark_busy(id);
}

policy::Waiting Queues::take(policy::QueueId id, std::size_t at) {
  auto& list = queues_[id.index()].waiting;
  const policy::Waiting waiting = list[at];
  if (at == 0)
    list.pop_front();
  else
    list.erase(at);
  if (list.empty()) mark_idle(id);
  return waiting;
}

std::size_t Queues::position(policy::QueueId id, InvocationId invocation) const {
  const auto& list = queues_[id.index()].waiting;
  std::size_t low = 0, high = list.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (list[middle].invocation < invocation)
      low = middle + 1;
    else
      high = middle;
  }
  CHECK(low < list.size() && list[low].invocation == invocation);
  return low;
}

const policy::Waiting& Queues::find(policy::QueueId id, InvocationId invocation) const {
  return queues_[id.index()].waiting[position(id, invocation)];
}

void Queues::erase(policy::QueueId id, std::span<const std::pair<policy::QueueId, InvocationId>> gone) {
  auto& list = queues_[id.index()].waiting;
  if (gone.size() == 1) {
    list.erase(position(id, gone.front().second));
  } else {
    list.erase_if([&](const policy::Waiting& w) {
      return std::binary_search(gone.begin(), gone.end(), std::pair(id, w.invocation));
    });
  }
  if (list.empty()) mark_idle(id);
}

void Queues::leave(policy::QueueId id, InvocationId invocation) {
  if (left_of_.size() < queues_.size()) left_of_.resize(queues_.size());
  ++left_of_[id.index()];
  left_.emplace_back(id, invocation);
}

void Queues::settle() {
  std::sort(left_.begin(), left_.end());
  for (auto first = left_.begin(); first != left_.end();) {
    const auto end = std::find_if(first, left_.end(), [&](const auto& one) { return one.first != first->first; });
    erase(first->first, {first, end});
    left_of_[first->first.index()] = 0;
    first = end;
  }
  left_.clear();
}

void Queues::forget_promises(InvokerId invoker) {
  for (const std::uint32_t queue : busy_) {
    auto& waiting = queues_[queue].waiting;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].reserved_at != invoker) continue;
      waiting.edit(i).reservation = ReservationId::none();
      waiting.edit(i).reserved_at = InvokerId::none();
    }
  }
}

void Queues::mark_busy(policy::QueueId id) {
  const auto it = std::lower_bound(busy_.begin(), busy_.end(), id.value());
  if (it == busy_.end() || *it != id.value()) busy_.insert(it, id.value());
}

void Queues::mark_idle(policy::QueueId id) {
  const auto it = std::lower_bound(busy_.begin(), busy_.end(), id.value());
  if (it != busy_.end() && *it == id.value()) busy_.erase(it);
}

void Queues::reset(std::size_t places) {
  queues_.clear();
  for (std::uint32_t q = 0; q < places; ++q) queues_.push_back({.id = policy::QueueId(q)});
}

void Queues::visit(Archive& archive) {
  archive(busy_);
  for (policy::Queue& queue : queues_) archive(queue.waiting, queue.pace);
}

}  // namespace sluice::core
