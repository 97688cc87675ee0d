// How objects are served.
#include <algorithm>
#include <utility>

#include "bus/object_exchange.h"
#include "domain/limits.h"

namespace sluice::bus {

void ObjectExchange::serve(Transport& to, const Ask& ask) {
  note_asker(ask);
  Answer answer = answer_to(ask);
  ++counters_.served;
  counters_.bytes_out += answer.bytes.size();
  to.send(encode(answer));
}

// Also of a request that nothing was heard of here yet: its command may be on its way.
void ObjectExchange::note_asker(const Ask& ask) {
  if (!ask.from.valid() || is_here(ask.from)) return;
  Asked& asked = asked_[ask.name.request];
  if (asked.askers.empty()) {
    asked.order = next_asked_++;
    asked_order_.emplace(asked.order, ask.name.request);
  }
  const auto same = [&](const Asker& asker) { return asker.place == ask.from; };
  const auto it = std::find_if(asked.askers.begin(), asked.askers.end(), same);
  if (it != asked.askers.end()) {
    it->held = std::max(it->held, ask.held);  // an earlier question may come later
  } else if (asked.askers.size() < limits::places_max) {
    asked.askers.push_back({ask.from, ask.held});
  }
  if (asked_order_.size() > options_.requests_asked_max) forget(asked_order_.begin()->second);
}

std::span<const Asker> ObjectExchange::askers(RequestId request) const {
  const auto it = asked_.find(request);
  if (it == asked_.end()) return {};
  return it->second.askers;
}

void ObjectExchange::forget(RequestId request) {
  if (const auto it = asked_.find(request); it != asked_.end()) {
    asked_order_.erase(it->second.order);
    asked_.erase(it);
  }
  std::erase_if(copies_, [&](const Copy& copy) { return copy.request == request; });
}

Answer ObjectExchange::answer_to(const Ask& ask) {
  Answer out{.number = ask.number};
  const auto held = store_.held(ask.name.request);
  out.held = held.value_or(0);
  if (ask.offset > 0) {
    const auto copy = std::find_if(copies_.begin(), copies_.end(), [&](const Copy& c) { return c.number == ask.copy; });
    if (copy == copies_.end() || ask.offset >= copy->parts.size()) {
      out.kind = Answer::Kind::gone;
      return out;
    }
    std::rotate(copy, copy + 1, copies_.end());
    out.copy = ask.copy;
    send_part(copies_.back().parts, ask, out);
    return out;
  }
  auto tensors = store_.get(ask.name.request, ask.name.key);
  if (tensors == nullptr) {
    out.kind = held ? Answer::Kind::absent : Answer::Kind::unknowing;
    return out;
  }
  const data::BlobParts parts(std::move(tensors));
  if (parts.size() > ask.most) out.copy = keep(ask.name.request, parts);
  send_part(parts, ask, out);
  return out;
}

// The number of the copy, which is the same for all who fetch the object at the same time.
std::uint64_t ObjectExchange::keep(RequestId request, const data::BlobParts& parts) {
  const auto same = [&](const Copy& copy) { return copy.parts.tensors() == parts.tensors(); };
  if (const auto it = std::find_if(copies_.begin(), copies_.end(), same); it != copies_.end()) return it->number;
  copies_.push_back({++next_copy_, request, parts});
  if (copies_.size() > options_.copies_max) copies_.pop_front();
  return next_copy_;
}

void ObjectExchange::send_part(const data::BlobParts& parts, const Ask& ask, Answer& out) {
  out.kind = Answer::Kind::part;
  out.total = parts.size();
  out.offset = ask.offset;
  out.bytes = parts.part(ask.offset, static_cast<std::size_t>(ask.most));
}

}  // namespace sluice::bus
