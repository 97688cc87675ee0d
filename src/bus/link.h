// Link: what the scheduler's driver knows of invokers. Commands go out, events come in; nothing here waits.
// In process it is the invoker's agent itself, so that a command costs a function call; RemoteLink (remote_link.h)
// speaks to a Station (station.h) elsewhere in versioned bytes. A command is delivered at most once and in order.
// Events are delivered at least once and in order: whoever observes them knows batches by their id and attempt.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/application.h"
#include "domain/commands.h"
#include "domain/events.h"

namespace sluice::bus {

// A line that a function printed while a batch ran.
struct Printed {
  BatchId batch;
  std::string line;
  void visit(auto& archive) { archive(batch, line); }
};

// What the functions of a tenant may take of the machines at once, however many they are and whatever they do.
struct TenantLimit {
  std::string tenant;
  std::optional<std::uint32_t> vcpu;  // nothing: no limit
  void visit(auto& archive) { archive(tenant, vcpu); }
};

// The inputs of the first invocation of a function that succeeded, of those that were asked for.
struct Sampled {
  ApplicationId application;
  FunctionId function;
  std::size_t bytes = 0;
  std::string inputs;  // data/tensor_blob.h; empty: they are larger than sample_bytes_max
};
inline constexpr std::size_t sample_bytes_max = 64u << 20;

struct Heard {
  std::vector<Event> events;
  std::vector<Printed> printed;
  std::vector<Sampled> samples;
  [[nodiscard]] bool empty() const { return events.empty() && printed.empty() && samples.empty(); }
  void clear() {
    events.clear();
    printed.clear();
    samples.clear();
  }
};

class Link {
 public:
  virtual ~Link() = default;

  // An application is told before the first command that names it.
  virtual void deploy(ApplicationId id, std::shared_ptr<const Application> application) = 0;
  // No later batch is of it. Instances of its functions may still be loaded.
  virtual void forget(ApplicationId id) = 0;
  // From now on, for all of its functions.
  virtual void limit(const TenantLimit& limit) = 0;
  // Whether the inputs of the function's next invocation that succeeds are wanted; they come once. Machines elsewhere
  // send none.
  virtual void want_sample(ApplicationId, FunctionId, bool /*wanted*/) {}
  // One of those that name an invoker. What it holds may be moved from.
  virtual void send(Command& command) = 0;
  // Appends what has happened since the last call. The first event of an invoker is its InvokerJoined.
  virtual void receive(Time now, Heard& out) = 0;
  // When to call receive() even if nobody says that something happened; in the past: something has.
  [[nodiscard]] virtual Time due() const = 0;
};

}  // namespace sluice::bus
