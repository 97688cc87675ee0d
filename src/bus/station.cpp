#include "bus/station.h"

#include <string>
#include <utility>

namespace sluice::bus {
namespace {

// Times in a command are of the scheduler's clock. One that no clock of this machine can say stays as it is.
void shift(StartBatch& start, Duration difference) {
  const auto move = [&](Time& time) {
    std::int64_t moved = 0;
    if (time == Time() || time == Time::max()) return;
    if (!__builtin_add_overflow(time.count_ns(), difference.count_ns(), &moved)) time = Time::from_ns(moved);
  };
  move(start.earliest);
  move(start.latest);
  for (BatchMember& member : start.members) move(member.ready);
}

}  // namespace

Station::Station(Link& machine, Transport& transport, const Options& options)
    : machine_(machine), transport_(transport), options_(options) {}

void Station::work(Time now) {
  if (out_.session().number == 0) begin_session(now);
  std::string bytes;
  while (transport_.receive(bytes)) read(bytes, now);
  collect(now);
  send(now);
}

// What happened on the machine before it says what it is comes before that in the session as well.
void Station::begin_session(Time now) {
  auto kept = out_.begin({options_.epoch, out_.session().number + 1});
  for (FromInvoker& item : kept) {
    // What an earlier session said of the machine as a whole is out of date.
    const auto* event = std::get_if<Event>(&item);
    if (event == nullptr || !std::holds_alternative<InvokerJoined>(*event)) out_.queue(std::move(item));
  }
  if (out_.session().number == 1) return;  // the machine's own first events say what it is
  collect(now);
  for (InvokerJoined& joined : inventory_.joined()) queue(Event(std::move(joined)));
}

void Station::collect(Time now) {
  heard_.clear();
  machine_.receive(now, heard_);
  for (Event& event : heard_.events) {
    inventory_.note(event);
    queue(std::move(event));
  }
  for (Printed& printed : heard_.printed) {
    if (out_.unacknowledged() < options_.printed_max) out_.queue(std::move(printed));
  }
}

void Station::queue(Event event) {
  if (auto* joined = std::get_if<InvokerJoined>(&event)) joined->session = out_.session().number;
  out_.queue(std::move(event));
}

void Station::read(std::string_view bytes, Time now) {
  auto frame = decode_to_invoker(bytes);
  if (!frame) return;  // as good as lost
  if (frame->session != out_.session()) return;
  if (frame->rejoin) return begin_session(now);
  const Duration difference = now - frame->at;
  auto items = out_.take(std::move(*frame));
  if (!items) return begin_session(now);
  for (ToInvoker& item : *items) carry_out(item, difference);
}

void Station::carry_out(ToInvoker& item, Duration clock_difference) {
  if (auto* deploy = std::get_if<Deploy>(&item)) {
    if (deploy->application != nullptr && known_.insert(deploy->id).second)
      machine_.deploy(deploy->id, std::move(deploy->application));
  } else if (const auto* forget = std::get_if<Forget>(&item)) {
    if (known_.erase(forget->id) > 0) machine_.forget(forget->id);
  } else if (const auto* limit = std::get_if<TenantLimit>(&item)) {
    machine_.limit(*limit);
  } else {
    auto& command = std::get<Command>(item);
    if (carried_out_ && command.id <= *carried_out_) return;
    carried_out_ = command.id;
    if (auto* start = std::get_if<StartBatch>(&command.action)) shift(*start, clock_difference);
    inventory_.note(command.action);
    machine_.send(command);
  }
}

void Station::send(Time now) {
  if (!out_.owes() && now < due()) return;
  out_.send(transport_, now);
  sent_at_ = now;
}

}  // namespace sluice::bus
