#include "core/requests.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::core {

Slot Requests::add(const RequestArrived& arrival, Time now) {
  const Slot slot = values_.take();
  Request& request = values_[slot];
  request.id = arrival.id;
  request.application = arrival.application;
  request.arrival = now;
  request.deadline = arrival.deadline;
  request.cost_limit = arrival.cost_limit;
  request.cost = {};
  request.waiting.clear();
  request.running.clear();
  request.promises.clear();
  request.ahead.clear();
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

void Requests::promise(Slot slot, const std::vector<policy::Reserved>& reserved, Books& books) {
  for (const policy::Reserved& r : reserved) {
    const ReservationId id = r.joins.valid() ? r.joins : ReservationId(next_reservation_++);
    if (r.joins.valid())
      books.share(r.invoker, id, r.latest);
    else
      books.reserve(r.invoker, id, r);
    values_[slot].promises.push_back({r.stage, id, r.invoker, r.from, r.latest});
  }
}

void Requests::keep_promise(Request& request, ReservationId promised, ReservationId taken, Books& books) {
  const auto kept = std::find_if(request.promises.begin(), request.promises.end(),
                                 [&](const Promise& p) { return p.reservation == promised; });
  CHECK(kept != request.promises.end());
  if (taken != promised) books.unreserve(kept->invoker, kept->reservation);
  request.promises.erase(kept);
}

void Requests::end_promises(Slot slot, Books& books) {
  for (const Promise& p : values_[slot].promises) books.unreserve(p.invoker, p.reservation);
  values_[slot].promises.clear();
}

void Requests::end_promise(Slot slot, std::uint32_t stage, Books& books) {
  auto& promises = values_[slot].promises;
  const auto it = std::find_if(promises.begin(), promises.end(), [&](const Promise& p) { return p.stage == stage; });
  if (it == promises.end()) return;
  books.unreserve(it->invoker, it->reservation);
  promises.erase(it);
}

void Requests::forget_promises(InvokerId invoker) {
  for (Slot slot = 0; slot < values_.size(); ++slot) {  // NOLINT(modernize-loop-convert): ranges of slots are const
    if (values_[slot].used)
      std::erase_if(values_[slot].promises, [&](const Promise& p) { return p.invoker == invoker; });
  }
}

void Requests::visit(Archive& archive) {
  archive(values_, next_reservation_);
  if (!archive.is_loading()) return;
  slots_.clear();
  for (Slot slot = 0; slot < values_.size(); ++slot) {
    if (values_[slot].used) slots_.emplace(values_[slot].id, slot);
  }
}

}  // namespace sluice::core
