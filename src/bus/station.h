// Station: the invoker's end of a remote link. Carries out what arrives on the machine's own Link, once and in order,
// and sends what happens there. A session begins with what was not acknowledged before, then with what the machine is,
// runs, has loaded and holds; whatever else of an earlier session arrives late is dropped. So a scheduler that lost
// messages, or knows nothing, has the truth before its first command of the session.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "bus/conversation.h"
#include "bus/frame.h"
#include "bus/inventory.h"
#include "bus/link.h"

namespace sluice::bus {

class Station {
 public:
  struct Options {
    std::uint64_t epoch = 1;  // grows with every start of the machine's agent
    Duration heartbeat = Duration::ms(100);
    std::size_t printed_max = 10'000;  // lines on their way; further ones are dropped
  };
  // Both must outlive it. The first session begins with the first work().
  Station(Link& machine, Transport& transport, const Options& options);

  // Reads what arrived, carries it out, sends what happened. `now` never goes back.
  void work(Time now);
  // When to call work() even if nothing arrives.
  [[nodiscard]] Time due() const { return sent_at_ + options_.heartbeat; }
  [[nodiscard]] std::uint64_t sessions() const { return out_.session().number; }

 private:
  void begin_session(Time now);
  // Queues what has happened on the machine.
  void collect(Time now);
  void queue(Event event);
  void read(std::string_view bytes, Time now);
  void carry_out(ToInvoker& item, Duration clock_difference);
  void send(Time now);

  Link& machine_;
  Transport& transport_;
  Options options_;
  Conversation<FromInvoker, ToInvoker> out_;
  Inventory inventory_;
  std::set<ApplicationId> known_;         // applications
  std::optional<CommandId> carried_out_;  // the newest
  Heard heard_;                           // scratch
  Time sent_at_;
};

}  // namespace sluice::bus
