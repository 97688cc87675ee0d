#include "bus/porter.h"

#include <string>
#include <utility>
#include <variant>

namespace sluice::bus {
namespace {

// What its outputs are made of is gone: nobody was there to fetch it.
Answered without_outputs(Answered answered) {
  if (answered.kind != Answered::Kind::finished) return answered;
  answered.kind = Answered::Kind::failed;
  answered.error = "GatewayLost: its gateway was away for too long to fetch what it had left";
  return answered;
}

}  // namespace

std::optional<AnswerTaken> Porter::answered(Answered answered) {
  const RequestId id = answered.request;
  if (leave(id)) return AnswerTaken{id, {}};
  inside_.erase(id);
  if (lost_) {
    untaken_.insert_or_assign(id, without_outputs(std::move(answered)));
    return AnswerTaken{id, {}};
  }
  if (out_.connected()) out_.queue(answered);
  untaken_.insert_or_assign(id, std::move(answered));
  held_.insert(id);
  return std::nullopt;
}

// Whether nobody waits for it any more.
bool Porter::leave(RequestId request) {
  auto node = leaving_.extract(request);
  if (!node.empty() && node.mapped()) again_.push_back(std::move(*node.mapped()));
  return !node.empty();
}

void Porter::moved(Arrival arrival) {
  if (leave(arrival.request)) return;
  inside_.erase(arrival.request);
  if (out_.connected()) out_.queue(Moved{std::move(arrival)});  // else it comes again with the next session
}

void Porter::work(Time now) {
  std::string bytes;
  while (transport_.receive(bytes)) read(bytes, now);
  for (Arrival& arrival : std::exchange(again_, {})) take(arrival);
  if (!lost_ && now - out_.heard_at() > options_.lost_after) {
    lost_ = true;
    out_.disconnect();
    for (const RequestId id : inside_) door_.cancel(id);
    for (const RequestId id : std::exchange(held_, {})) {
      Answered& answered = untaken_.at(id);
      answered = without_outputs(std::move(answered));
      door_.taken({id, answered.error});
    }
  }
  out_.flush(now);
}

void Porter::read(std::string_view bytes, Time now) {
  auto items = out_.hear(decode_from_gateway(bytes), now,
                         [this](const Session& before, const Session& session) { begin_session(before, session); });
  if (!items) return;
  lost_ = false;
  for (FromGateway& item : *items) take(item);
}

// What an earlier life of the gateway waited for nobody waits for any more.
void Porter::begin_session(const Session& before, const Session& session) {
  if (session.epoch != before.epoch) forget_all();
  for (const auto& [id, answered] : untaken_) out_.queue(answered);
}

void Porter::forget_all() {
  for (auto& [id, again] : leaving_) again.reset();
  again_.clear();
  for (const RequestId id : inside_) {
    door_.cancel(id);
    leaving_.try_emplace(id);
  }
  for (const RequestId id : std::exchange(held_, {})) door_.taken({id, {}});
  inside_.clear();
  untaken_.clear();
}

void Porter::take(FromGateway& item) {
  std::visit([this](auto& one) { take(one); }, item);
}

void Porter::take(Arrival& arrival) {
  const RequestId id = arrival.request;
  if (const auto before = leaving_.find(id); before != leaving_.end()) {
    before->second = std::move(arrival);
    return;
  }
  if (untaken_.contains(id) || !inside_.insert(id).second) return;  // it came before the gap
  if (door_.offer({&arrival, 1}, *this)) return;
  inside_.erase(id);
  refuse(id, Answered::Kind::rejected);
}

void Porter::refuse(RequestId request, Answered::Kind kind) {
  Answered refused{.request = request, .kind = kind};
  refused.reason = RejectReason::queue_full;
  if (out_.connected()) out_.queue(refused);
  untaken_.insert_or_assign(request, std::move(refused));
}

void Porter::take(const Cancel& cancel) {
  if (inside_.contains(cancel.request)) door_.cancel(cancel.request);
  const auto leaving = leaving_.find(cancel.request);
  if (leaving == leaving_.end() || !leaving->second) return;
  leaving->second.reset();
  refuse(cancel.request, Answered::Kind::cancelled);
}

void Porter::take(AnswerTaken& taken) {
  untaken_.erase(taken.request);
  if (held_.erase(taken.request) > 0) door_.taken(std::move(taken));
}

}  // namespace sluice::bus
