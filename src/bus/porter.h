// Porter: a gateway elsewhere as the scheduler's driver knows it, over a Transport to its RemoteDoor. What arrives is
// offered at the scheduler's own door, once, however often a session brings it; what is answered is kept until the
// gateway has taken it. A gateway that is silent for too long is lost: nobody waits for its requests any more, so they
// are cancelled, and nothing is kept for it but how they ended. Used by the driver's thread alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "bus/door.h"
#include "bus/frame.h"
#include "bus/session_end.h"

namespace sluice::bus {

class Porter final : public Gateway {
 public:
  struct Options {
    Duration heartbeat = Duration::ms(100);
    Duration lost_after = Duration::ms(1500);
  };
  // Both must outlive it.
  Porter(Door& door, Transport& transport, const Options& options)
      : door_(door), transport_(transport), options_(options), out_(transport, options.heartbeat) {}

  [[nodiscard]] std::optional<AnswerTaken> answered(Answered answered) override;
  void settle() override {}
  void moved(Arrival arrival) override;

  // Reads what arrived and sends what there is. `now` never goes back.
  void work(Time now);
  [[nodiscard]] Time due() const { return lost_ ? Time::max() : out_.next_beat(); }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  void read(std::string_view bytes, Time now);
  void begin_session(const Session& before, const Session& session);
  void take(FromGateway& item);
  void take(Arrival& arrival);
  void take(const Cancel& cancel);
  void take(AnswerTaken& taken);
  void forget_all();
  [[nodiscard]] bool leave(RequestId request);
  void refuse(RequestId request, Answered::Kind kind);

  Door& door_;
  Transport& transport_;
  const Options options_;
  SessionEnd<ToGateway, FromGateway> out_;
  std::set<RequestId> inside_;  // offered, and not answered
  // Offered by an earlier life of the gateway, cancelled, and not answered yet. A request that outlives its gateway, as
  // those on disk do, may come again meanwhile: it waits here, since the driver has its id.
  std::map<RequestId, std::optional<Arrival>> leaving_;
  std::vector<Arrival> again_;             // whose earlier one has left
  std::map<RequestId, Answered> untaken_;  // in order
  std::set<RequestId> held_;               // of those: the driver waits for them to be taken
  bool lost_ = true;
};

}  // namespace sluice::bus
