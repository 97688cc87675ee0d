#include "bus/remote_link.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace sluice::bus {
namespace {

InvokerId invoker_of(const Action& action) {
  return std::visit(
      [](const auto& a) {
        if constexpr (requires { a.invoker; }) return a.invoker;
        return InvokerId::none();
      },
      action);
}

}  // namespace

RemoteLink::RemoteLink(Transport& transport, const Options& options) : transport_(transport), options_(options) {}

void RemoteLink::deploy(ApplicationId id, std::shared_ptr<const Application> application) {
  applications_[id] = application;
  if (connected_) out_.queue(Deploy{id, std::move(application)});
}

void RemoteLink::forget(ApplicationId id) {
  applications_.erase(id);
  if (connected_) out_.queue(Forget{id});
}

void RemoteLink::send(Command& command) {
  const auto member = members_.find(invoker_of(command.action));
  if (connected_ && member != members_.end() && member->second.in_session) out_.queue(std::move(command));
}

void RemoteLink::receive(Time now, Heard& out) {
  std::string bytes;
  while (transport_.receive(bytes)) read(bytes, now, out);
  if (out_.unacknowledged() > options_.unacknowledged_max) connected_ = false;
  lose_silent(now, out);
}

void RemoteLink::read(std::string_view bytes, Time now, Heard& out) {
  auto frame = decode_from_invoker(bytes);
  if (!frame || frame->session < out_.session()) return;  // rubbish, or late
  const Session session = frame->session;
  if (out_.session() < session) {
    begin_session(session);
    began_at_ = now;
  } else if (!connected_) {
    return ask_to_rejoin(session, now);
  }
  auto items = out_.take(std::move(*frame));
  if (!items) {
    connected_ = false;
    return ask_to_rejoin(session, now);
  }
  heard_at_ = now;
  for (FromInvoker& item : *items) take(item, out);
}

void RemoteLink::begin_session(const Session& session) {
  (void)out_.begin(session);  // its InvokerJoined says what of it runs
  connected_ = true;
  for (auto& [id, member] : members_) member.in_session = false;
  for (const auto& [id, application] : applications_) out_.queue(Deploy{id, application});
}

// Not for every frame that arrives meanwhile.
void RemoteLink::ask_to_rejoin(const Session& session, Time now) {
  if (asked_at_ != Time() && now - asked_at_ < options_.heartbeat) return;
  asked_at_ = now;
  const auto bytes = encode(Frame<ToInvoker>{.session = session, .at = now, .rejoin = true});
  CHECK(bytes.ok());
  transport_.send(*bytes);
}

void RemoteLink::take(FromInvoker& item, Heard& out) {
  if (auto* printed = std::get_if<Printed>(&item)) {
    out.printed.push_back(std::move(*printed));
    return;
  }
  auto& event = std::get<Event>(item);
  if (const auto* joined = std::get_if<InvokerJoined>(&event))
    members_[joined->id] = {joined->epoch, joined->session, true};
  out.events.push_back(std::move(event));
}

// All of a station that says nothing; those that a session did not bring back.
void RemoteLink::lose_silent(Time now, Heard& out) {
  const bool silent = now - heard_at_ > options_.lost_after, settled = now - began_at_ > options_.lost_after;
  if (silent) connected_ = false;
  std::erase_if(members_, [&](const auto& entry) {
    if (!silent && (entry.second.in_session || !settled)) return false;
    out.events.push_back(InvokerLost{entry.first, entry.second.epoch, entry.second.session});
    return true;
  });
}

void RemoteLink::flush(Time now) {
  if (!connected_ || (!out_.owes() && now < sent_at_ + options_.heartbeat)) return;
  out_.send(transport_, now);
  sent_at_ = now;
}

Time RemoteLink::due() const {
  const Time lost = members_.empty() ? Time::max() : heard_at_ + options_.lost_after;
  return connected_ ? std::min(sent_at_ + options_.heartbeat, lost) : lost;
}

}  // namespace sluice::bus
