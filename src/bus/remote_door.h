// RemoteDoor: a gateway's end of the door to a scheduler elsewhere, over a Transport to its Porter. Keeps every request
// until it is answered: a session that begins after a gap brings all of them again, and the porter knows those it has.
// So a gap loses no request and runs none twice. Any thread; work() by one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "bus/conversation.h"
#include "bus/door.h"
#include "bus/frame.h"

namespace sluice::bus {

class RemoteDoor final : public Door {
 public:
  struct Options {
    std::uint64_t epoch = 1;  // grows with every start of the gateway
    Duration heartbeat = Duration::ms(100);
    std::size_t waiting_max = 20'000;  // requests; more are not taken
  };
  RemoteDoor(Transport& transport, const Options& options) : transport_(transport), options_(options) {}

  [[nodiscard]] bool offer(std::span<Arrival> arrivals, Gateway& from) override;
  void cancel(RequestId request) override;
  void taken(AnswerTaken taken) override;

  // Reads what arrived, tells the gateways, sends what there is. `now` never goes back.
  void work(Time now);
  // When to call work() even if nothing arrives and nobody offers anything.
  [[nodiscard]] Time due() const;
  [[nodiscard]] std::uint64_t sessions() const;

 private:
  struct Offered {
    Arrival arrival;
    Gateway* from = nullptr;
    bool cancelled = false;
  };
  // Something for a gateway: told outside of the lock, since it may call back.
  struct Delivery {
    Gateway* gateway = nullptr;
    ToGateway item;
  };
  // REQUIRES: mutex_ is held.
  void begin_session();
  void read(std::string_view bytes, std::vector<Delivery>& deliveries);
  void take(ToGateway& item, std::vector<Delivery>& deliveries);

  Transport& transport_;
  const Options options_;
  mutable std::mutex mutex_;  // guards all that follows
  Conversation<FromGateway, ToGateway> out_;
  std::map<RequestId, Offered> offered_;  // not answered
  std::set<RequestId> taking_;            // answered, and not taken
  Time sent_at_;
};

}  // namespace sluice::bus
