#include "bus/remote_door.h"

#include <string>
#include <utility>
#include <variant>

namespace sluice::bus {

bool RemoteDoor::offer(std::span<Arrival> arrivals, Gateway& from) {
  const std::lock_guard lock(mutex_);
  if (offered_.size() + arrivals.size() > options_.waiting_max) return false;
  for (Arrival& arrival : arrivals) {
    out_.queue(arrival);
    const RequestId id = arrival.request;
    offered_.insert_or_assign(id, Offered{std::move(arrival), &from});
  }
  return true;
}

void RemoteDoor::cancel(RequestId request) {
  const std::lock_guard lock(mutex_);
  const auto it = offered_.find(request);
  if (it == offered_.end()) return;
  it->second.cancelled = true;
  out_.queue(Cancel{request});
}

void RemoteDoor::taken(AnswerTaken taken) {
  const std::lock_guard lock(mutex_);
  taking_.erase(taken.request);
  out_.queue(std::move(taken));
}

void RemoteDoor::work(Time now) {
  std::vector<Delivery> deliveries;
  {
    const std::lock_guard lock(mutex_);
    if (out_.session().number == 0) begin_session();
    std::string bytes;
    while (transport_.receive(bytes)) read(bytes, deliveries);
  }
  for (Delivery& one : deliveries) {
    if (auto* moved = std::get_if<Moved>(&one.item)) {
      one.gateway->moved(std::move(moved->arrival));
    } else if (auto now_taken = one.gateway->answered(std::move(std::get<Answered>(one.item)))) {
      taken(std::move(*now_taken));
      one.gateway->settle();
    }
  }
  const std::lock_guard lock(mutex_);
  if (!out_.owes() && now < sent_at_ + options_.heartbeat) return;
  out_.send(transport_, now);
  sent_at_ = now;
}

Time RemoteDoor::due() const {
  const std::lock_guard lock(mutex_);
  return out_.owes() ? Time() : sent_at_ + options_.heartbeat;
}

std::uint64_t RemoteDoor::sessions() const {
  const std::lock_guard lock(mutex_);
  return out_.session().number;
}

// All that is not answered, in the order of ids, which is that of arrival; and what was taken without the porter having
// heard of it.
void RemoteDoor::begin_session() {
  auto kept = out_.begin({options_.epoch, out_.session().number + 1});
  for (const auto& [id, offered] : offered_) {
    out_.queue(offered.arrival);
    if (offered.cancelled) out_.queue(Cancel{id});
  }
  for (FromGateway& item : kept) {
    if (std::holds_alternative<AnswerTaken>(item)) out_.queue(std::move(item));
  }
}

void RemoteDoor::read(std::string_view bytes, std::vector<Delivery>& deliveries) {
  auto frame = decode_to_gateway(bytes);
  if (!frame || frame->session != out_.session()) return;  // rubbish, or of another session
  if (frame->rejoin) return begin_session();
  auto items = out_.take(std::move(*frame));
  if (!items) return begin_session();
  for (ToGateway& item : *items) take(item, deliveries);
}

void RemoteDoor::take(ToGateway& item, std::vector<Delivery>& deliveries) {
  const auto* answered = std::get_if<Answered>(&item);
  const RequestId id = answered != nullptr ? answered->request : std::get<Moved>(item).arrival.request;
  auto node = offered_.extract(id);
  if (!node.empty()) {
    if (answered != nullptr) taking_.insert(id);
    return deliveries.push_back({node.mapped().from, std::move(item)});
  }
  // Answered a second time after a gap: whoever takes it will say so, or has.
  if (answered != nullptr && !taking_.contains(id)) out_.queue(AnswerTaken{id, {}});
}

}  // namespace sluice::bus
