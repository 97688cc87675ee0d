#include "bus/porter.h"

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

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
  inside_.erase(id);
  if (lost_) {
    untaken_.insert_or_assign(id, without_outputs(std::move(answered)));
    return AnswerTaken{id, {}};
  }
  if (connected_) out_.queue(answered);
  untaken_.insert_or_assign(id, std::move(answered));
  held_.insert(id);
  return std::nullopt;
}

void Porter::moved(Arrival arrival) {
  inside_.erase(arrival.request);
  if (connected_) out_.queue(Moved{std::move(arrival)});  // else it comes again with the next session
}

void Porter::work(Time now) {
  std::string bytes;
  while (transport_.receive(bytes)) read(bytes, now);
  if (!lost_ && now - heard_at_ > options_.lost_after) {
    lost_ = true;
    connected_ = false;
    for (const RequestId id : inside_) door_.cancel(id);
    for (const RequestId id : std::exchange(held_, {})) {
      Answered& answered = untaken_.at(id);
      answered = without_outputs(std::move(answered));
      door_.taken({id, answered.error});
    }
  }
  if (!connected_ || (!out_.owes() && now < sent_at_ + options_.heartbeat)) return;
  out_.send(transport_, now);
  sent_at_ = now;
}

void Porter::read(std::string_view bytes, Time now) {
  auto frame = decode_from_gateway(bytes);
  if (!frame || frame->session < out_.session()) return;  // rubbish, or late
  const Session session = frame->session;
  if (out_.session() < session) {
    begin_session(session);
  } else if (!connected_) {
    return ask_to_rejoin(session, now);
  }
  auto items = out_.take(std::move(*frame));
  if (!items) {
    connected_ = false;
    return ask_to_rejoin(session, now);
  }
  heard_at_ = now;
  lost_ = false;
  for (FromGateway& item : *items) take(item);
}

// What an earlier life of the gateway waited for nobody waits for any more.
void Porter::begin_session(const Session& session) {
  if (session.epoch != out_.session().epoch) forget_all();
  (void)out_.begin(session);
  connected_ = true;
  for (const auto& [id, answered] : untaken_) out_.queue(answered);
}

void Porter::forget_all() {
  for (const RequestId id : inside_) door_.cancel(id);
  for (const RequestId id : std::exchange(held_, {})) door_.taken({id, {}});
  inside_.clear();
  untaken_.clear();
}

// Not for every frame that arrives meanwhile.
void Porter::ask_to_rejoin(const Session& session, Time now) {
  if (asked_at_ != Time() && now - asked_at_ < options_.heartbeat) return;
  asked_at_ = now;
  const auto bytes = encode(Frame<ToGateway>{.session = session, .at = now, .rejoin = true});
  CHECK(bytes.ok());
  transport_.send(*bytes);
}

void Porter::take(FromGateway& item) {
  std::visit([this](auto& one) { take(one); }, item);
}

void Porter::take(Arrival& arrival) {
  const RequestId id = arrival.request;
  if (untaken_.contains(id) || !inside_.insert(id).second) return;  // it came before the gap
  if (door_.offer(arrival, *this)) return;
  inside_.erase(id);
  Answered full{.request = id, .kind = Answered::Kind::rejected};
  full.reason = RejectReason::queue_full;
  out_.queue(full);
  untaken_.emplace(id, std::move(full));
}

void Porter::take(const Cancel& cancel) {
  if (inside_.contains(cancel.request)) door_.cancel(cancel.request);
}

void Porter::take(AnswerTaken& taken) {
  untaken_.erase(taken.request);
  if (held_.erase(taken.request) > 0) door_.taken(std::move(taken));
}

}  // namespace sluice::bus
