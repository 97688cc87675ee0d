// RemoteLink: the scheduler's end of a link to machines elsewhere, over a Transport to their Station. Nothing is sent
// again: a command that was sent and not carried out when a session ends is dropped, as is one to an invoker that has
// not joined in this session; its InvokerJoined tells the scheduler what really runs, and the scheduler starts the rest
// again. So a gap costs no batch that runs. An invoker that is silent for too long is lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bus/frame.h"
#include "bus/link.h"
#include "bus/session_end.h"

namespace sluice::bus {

class RemoteLink : public Link {
 public:
  struct Options {
    Duration heartbeat = Duration::ms(100);
    Duration lost_after = Duration::ms(1500);
    std::size_t unacknowledged_max = 65'536;  // a station that is behind by more is lost
  };
  RemoteLink(Transport& transport, const Options& options);

  void deploy(ApplicationId id, std::shared_ptr<const Application> application) override;
  void forget(ApplicationId id) override;
  void limit(const TenantLimit& limit) override;
  void send(Command& command) override;
  void receive(Time now, Heard& out) override;

  // Sends what is queued, and a sign of life where it is time for one. At the end of every step.
  void flush(Time now) { out_.flush(now); }
  [[nodiscard]] Time due() const override;

 private:
  void read(std::string_view bytes, Time now, Heard& out);
  void begin_session();
  void take(FromInvoker& item, Heard& out);
  void lose_silent(Time now, Heard& out);

  Transport& transport_;
  Options options_;
  SessionEnd<ToInvoker, FromInvoker> out_;
  std::map<ApplicationId, std::shared_ptr<const Application>> applications_;
  std::map<std::string, TenantLimit> limits_;  // by tenant
  struct Member {
    std::uint64_t epoch = 0, session = 0;  // as it said when it joined
    bool in_session = false;               // it said so in this session: only then commands reach it
  };
  std::map<InvokerId, Member> members_;  // that the scheduler believes to be there
  Time began_at_;                        // the session
};

}  // namespace sluice::bus
