#include "core/requests.h"

namespace sluice::core {

Slot Requests::add(const RequestArrived& arrival, Time now) {
  const Slot slot = values_.take();
  Request& request = values_[slot];
  request.id = arrival.id;
  request.application = arrival.application;
  request.arrival = now;
  request.deadline = arrival.deadline;
  request.size = arrival.size;
  request.cost = {};
  request.waiting.clear();
  request.running.clear();
  request.promises.clear();
  slots_.emplace(arrival.id, slot);
  return slot;
}

void Requests::remove(Slot slot) {
  slots_.erase(values_[slot].id);
  values_.give_back(slot);
}

std::optional<Slot> Requests::find(RequestId id) const {
  const auto it = slots_.find(id);
  return it == slots_.end() ? std::nullopt : std::optional(it->second);
}

void Requests::visit(Archive& archive) {
  archive(values_);
  if (!archive.is_loading()) return;
  slots_.clear();
  for (Slot slot = 0; slot < values_.size(); ++slot) {
    if (values_[slot].used) slots_.emplace(values_[slot].id, slot);
  }
}

}  // namespace sluice::core
