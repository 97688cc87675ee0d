// The parts of a scheduler. Each is a value with a state that the core owns, saves and hashes (visit); it reads the
// view and proposes. The core re-checks and books every proposal, so a wrong policy crashes a simulation instead of
// corrupting books.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/archive.h"
#include "domain/commands.h"
#include "policy/view.h"

namespace sluice::policy {

// One way to run a batch: `members` invocations of the queue from `first` on, oldest first. Or to load the function for
// them where it is not (`load`): whoever waits when that is done is asked about again, so that nobody is bound to a
// load that fails or takes long, and those who come meanwhile go along.
struct Proposal {
  Configuration configuration;
  InvokerId invoker;
  std::uint32_t members = 1;  // ≤ configuration.batch
  std::uint32_t first = 0;    // first + members ≤ what waits
  ReservationId reservation;  // what was promised to its members, which need not be side by side; none: what is free
  Time latest = Time::max();  // it may start; later it is not run
  Level load = Level::none;   // above none: nothing starts, the function is loaded there, as far as this
  std::uint16_t gpu = 0;      // there: level device
  BatchReason reason = {};
};

// Ranked alternatives for one queue, and what finding them took. Or the verdict that some of its invocations are not
// worth running any more: their requests are answered with "deadline exceeded".
struct Proposals {
  QueueId queue;
  std::vector<Proposal> ranked;
  std::uint32_t drop = 0, drop_first = 0;  // how many, from which on
  Work work;
  bool planned = false;               // the configuration was fixed earlier, for the whole request
  bool configuration_missed = false;  // and cannot be used as planned: too few invocations wait, or it fitted nowhere
  void clear() {
    queue = QueueId::none();
    ranked.clear();
    drop = drop_first = 0;
    work = {};
    planned = configuration_missed = false;
  }
};

// A batch that ran to its end.
struct Ran {
  QueueId queue;
  Configuration configuration;
  std::uint32_t members = 1;
  Duration took;  // from its start on, less moving its inputs
};

class Dispatch {
 public:
  virtual ~Dispatch() = default;
  // An invocation has entered a queue, as its last.
  virtual void queued(const View&, const Queue&) {}
  // A batch of a queue has ended.
  virtual void ran(const View&, const Ran&) {}
  // A new instant has begun: everything observed since the last one is in the view.
  virtual void begin(const View& view) = 0;
  // The next queue's alternatives; false when there is nothing more to do at this instant.
  virtual bool next(const View& view, Proposals& out) = 0;
  // Which alternative was booked and starts; nothing: none fitted, or something is loaded first.
  virtual void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) = 0;
  // A request is over, however it ended: nothing of it will be asked about again.
  virtual void ended(const View&, RequestId) {}
  // The queue is no more; another one, of which nothing is known, may have its id later.
  virtual void removed(const View&, const Queue&) {}
  // What would be derived from other plans of the application as things stand now.
  [[nodiscard]] virtual Derive derives(const View&, ApplicationId) const { return {}; }
  // How often something was derived here that no plans brought along. Not part of the state.
  [[nodiscard]] virtual std::uint64_t derived_here() const { return 0; }
  // When to be asked again even if nothing happens. Asked after the last next() of an instant.
  [[nodiscard]] virtual std::optional<Time> next_wake(const View&) const { return std::nullopt; }
  virtual void visit(Archive& archive) = 0;
};

// The invocation that waits longest for a function; of equal ones that with the lowest id, so that no two functions
// have the same claim. Smaller is older.
struct Oldest {
  Time since = Time::max();  // max: nobody waits
  InvocationId invocation;
  friend auto operator<=>(const Oldest&, const Oldest&) = default;
};

// What should be loaded and what need not stay.
struct Wishes {
  struct Load {
    SharedFunctionId function;
    InvokerId invoker;
    Level level = Level::device;
    std::uint16_t gpu = 0;  // level device
    double worth = 0;       // what has to go for it is worth less (loading.h)
    Oldest oldest;          // who waits for it
  };
  std::vector<Load> load;
  std::vector<InstanceId> evict;  // idle ones
  void clear() {
    load.clear();
    evict.clear();
  }
};

// A promise for one stage of a request.
struct Reserved {
  std::uint32_t stage = 0;  // of the application's workflow
  InvokerId invoker;
  Configuration configuration;
  SlicePositions positions;
  Time from, to;
  SharedFunctionId function = {};
  Time latest = Time::max();  // it may start so that the whole request is still in time
  QueueId queue = {};         // whose invocations may take the places that its batch has left
  ReservationId joins = {};   // a place in a batch that was promised to others; none: a batch of its own
};

struct Admitted {
  bool accept = true;
  RejectReason reason = RejectReason::slo_infeasible;
  double needed = 0, available = 0;     // milliseconds; dollars where the reason is the cost; slices or vCPUs
  std::optional<Duration> retry_after;  // refused: when it may be let in
  std::optional<Time> promised;         // finish; absent: the deadline is all that is known
  PicoDollars cost;                     // expected
  std::vector<Reserved> reserved;
  // Something that is to be loaded first; then the policy is asked again, and nothing else of this counts.
  std::optional<Wishes::Load> load;
};

class Admission {
 public:
  virtual ~Admission() = default;
  [[nodiscard]] virtual Admitted admit(const View& view, const RequestArrived& request) = 0;
  // How often it had to derive something itself; of what it asks for, its dispatch says derives().
  [[nodiscard]] virtual std::uint64_t derived_here() const { return 0; }
  virtual void visit(Archive& archive) = 0;
};

class Prewarm {
 public:
  virtual ~Prewarm() = default;
  virtual void queued(const View&, const Queue&) {}
  // One load of a function at the most: it is asked again at the same instant for as long as something is loaded.
  virtual void decide(const View& view, Wishes& out) = 0;
  [[nodiscard]] virtual std::optional<Time> next_wake(const View&) const { return std::nullopt; }
  virtual void visit(Archive& archive) = 0;
};

// Numbers by name, from the experiment's `parameters`.
using Parameters = std::map<std::string, double>;
[[nodiscard]] inline double parameter_or(const Parameters& parameters, const std::string& name, double otherwise) {
  const auto it = parameters.find(name);
  return it == parameters.end() ? otherwise : it->second;
}

struct Policies {
  std::unique_ptr<Admission> admission;
  std::unique_ptr<Dispatch> dispatch;
  std::unique_ptr<Prewarm> prewarm;
  bool learns = false;  // profiles are corrected by what was measured
};

}  // namespace sluice::policy
