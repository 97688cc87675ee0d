#include "bus/remote_link.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

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

RemoteLink::RemoteLink(Transport& transport, const Options& options)
    : transport_(transport), options_(options), out_(transport, options.heartbeat) {}

void RemoteLink::deploy(ApplicationId id, std::shared_ptr<const Application> application) {
  applications_[id] = application;
  if (out_.connected()) out_.queue(Deploy{id, std::move(application)});
}

void RemoteLink::forget(ApplicationId id) {
  applications_.erase(id);
  if (out_.connected()) out_.queue(Forget{id});
}

void RemoteLink::limit(const TenantLimit& limit) {
  limits_[limit.tenant] = limit;
  if (out_.connected()) out_.queue(limit);
}

void RemoteLink::send(Command& command) {
  const auto member = members_.find(invoker_of(command.action));
  if (out_.connected() && member != members_.end() && member->second.in_session) out_.queue(std::move(command));
}

void RemoteLink::receive(Time now, Heard& out) {
  std::string bytes;
  while (transport_.receive(bytes)) read(bytes, now, out);
  if (out_.unacknowledged() > options_.unacknowledged_max) out_.disconnect();
  lose_silent(now, out);
}

void RemoteLink::read(std::string_view bytes, Time now, Heard& out) {
  auto items = out_.hear(decode_from_invoker(bytes), now, [this, now](const Session&, const Session&) {
    begin_session();
    began_at_ = now;
  });
  if (!items) return;
  for (FromInvoker& item : *items) take(item, out);
}

// What of earlier commands runs its InvokerJoined says.
void RemoteLink::begin_session() {
  for (auto& [id, member] : members_) member.in_session = false;
  for (const auto& [id, application] : applications_) out_.queue(Deploy{id, application});
  for (const auto& [tenant, limit] : limits_) out_.queue(limit);
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
  const bool silent = now - out_.heard_at() > options_.lost_after, settled = now - began_at_ > options_.lost_after;
  if (silent) out_.disconnect();
  std::erase_if(members_, [&](const auto& entry) {
    if (!silent && (entry.second.in_session || !settled)) return false;
    out.events.emplace_back(InvokerLost{entry.first, entry.second.epoch, entry.second.session});
    return true;
  });
}

Time RemoteLink::due() const {
  const Time lost = members_.empty() ? Time::max() : out_.heard_at() + options_.lost_after;
  return out_.connected() ? std::min(out_.next_beat(), lost) : lost;
}

}  // namespace sluice::bus
