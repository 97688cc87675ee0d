// Callers: requests that nobody has answered yet, and answers that their gateways still fetch. Of the scheduler's
// thread alone.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bus/door.h"
#include "bus/link.h"
#include "domain/commands.h"
#include "live/directory.h"
#include "live/history.h"

namespace sluice::live {

class Callers {
 public:
  struct Pending {
    bus::Gateway* gateway = nullptr;
    ApplicationId application;
    Time arrival, deadline;
    std::optional<Time> timeout;
  };
  // A request that failed or was refused, for whoever runs the server.
  struct Ended {
    const bus::Answered& answered;
    ApplicationId application;
    RequestState state;
    const std::string& error;  // empty: it was refused, or its time was over
  };
  // What an answer changes: what is counted, what is remembered, and objects that are no longer needed.
  struct Effects {
    Directory& directory;
    History& history;
    bus::Link& link;
    std::function<void(const Ended&)> unlucky;
  };
  explicit Callers(Effects effects) : effects_(std::move(effects)) {}

  void add(RequestId request, const Pending& pending);
  [[nodiscard]] bool waits(RequestId request) const { return pending_.contains(request); }
  void answer(bus::Answered out, RequestState state, Time now);
  void answer(const Reject& refused, Time now);
  void answer(const Reply& replied, Time now);
  void taken(const bus::AnswerTaken& taken, Time now);
  // Objects stay until the gateway has fetched what it needs of them: true, and the command is sent then.
  [[nodiscard]] bool keep_release(Command& command);
  // Answers one whose caller has given up by now, whatever its objective; nothing: there is none.
  [[nodiscard]] std::optional<RequestId> expire_one(Time now);
  [[nodiscard]] std::optional<Time> next_timeout() const;

 private:
  struct Untaken {
    ApplicationId application;
    bus::Answered answered;
    RequestState state = RequestState::met;
    std::vector<Command> releases;  // of its objects
  };

  void ended(const Untaken& untaken, const bus::AnswerTaken& taken, Time now);

  Effects effects_;
  std::unordered_map<RequestId, Pending> pending_;
  std::unordered_map<RequestId, Untaken> untaken_;
  std::set<std::pair<Time, RequestId>> timeouts_;  // of those that are pending
};

}  // namespace sluice::live
