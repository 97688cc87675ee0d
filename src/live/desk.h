// Desk: the gateway's end of the door to the scheduler. Keeps the caller and the tensors of every request that is not
// answered; the scheduler gets to know only what they say about the way. Any thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bus/door.h"
#include "bus/objects.h"
#include "bus/resolver.h"
#include "data/object_store.h"
#include "live/service.h"

namespace sluice::live {

class Desk final : public bus::Gateway {
 public:
  // All must outlive it; `snapshot` says what is deployed. `elsewhere` has objects of other machines, and works in the
  // thread that answers; null: there are none.
  Desk(bus::Door& door, data::ObjectStore& objects, std::function<std::shared_ptr<const Snapshot>()> snapshot,
       bus::Objects* elsewhere = nullptr);

  struct Errand {
    RequestId id;
    Call call;
    OnAnswer answer;
    bool asynchronous = false;
  };
  // False: too many are before it; then nothing was called, and the errand is as it was.
  [[nodiscard]] bool call(Errand& errand);
  // The same for several that arrive at one instant: all of them, or none. One that cannot be called at all is answered
  // here, has no `answer` afterwards, and the others are called without it.
  [[nodiscard]] bool call_together(std::span<Errand> errands);
  // Nothing happens where the principal does not see the request, or it is answered already.
  void cancel(const Principal& principal, RequestId request);

  [[nodiscard]] std::optional<bus::AnswerTaken> answered(bus::Answered answered) override;
  void settle() override;
  void moved(bus::Arrival arrival) override;

 private:
  struct Waiting {
    OnAnswer answer;
    std::shared_ptr<const Target> target;
    Held held;  // of the tenant's quota
  };
  [[nodiscard]] std::shared_ptr<const Target> find(const std::string& tenant, const std::string& application) const;
  void describe(bus::Arrival& arrival, const Target& target) const;
  // Nothing: it cannot be called, and its caller is told.
  [[nodiscard]] std::optional<bus::Arrival> open(Errand& errand);
  void close(Errand& errand);  // what open() did
  [[nodiscard]] std::optional<Waiting> leave(RequestId request);
  struct Telling {
    OnAnswer caller;
    Answer answer;
  };
  // Outputs of an answered request that are on their way.
  struct Fetching {
    Waiting waiting;
    bus::Answered answered;
    std::shared_ptr<Result<data::Tensors>> outputs;  // as of the last attempt
    std::optional<bus::Resolver::Ticket> ticket;
  };
  [[nodiscard]] bool fetch(Waiting& waiting, bus::Answered& answered);
  void fetched(RequestId request);
  // The caller is told by the next settle().
  [[nodiscard]] bus::AnswerTaken take(Waiting waiting, bus::Answered answered, Result<data::Tensors> outputs);

  bus::Door& door_;
  data::ObjectStore& objects_;
  std::function<std::shared_ptr<const Snapshot>()> snapshot_;
  bus::Objects* elsewhere_;
  std::optional<bus::Resolver> resolver_;
  std::mutex mutex_;
  std::unordered_map<RequestId, Waiting> waiting_;  // guarded by mutex_
  std::map<RequestId, Fetching> fetching_;          // of the thread that answers
  std::vector<Telling> taken_, settling_;           // callers to be told; of the thread that answers
};

}  // namespace sluice::live
