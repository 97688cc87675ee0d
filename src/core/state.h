// State: everything the scheduler knows, one value for each part and what those parts hand to each other. The steps of
// the scheduler (intake.h, following.h, endings.h, joining.h, dispatching.h, booking.h, prewarming.h) are functions
// over it; nothing else in core/ keeps a state between two calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/archive.h"
#include "core/applications.h"
#include "core/arrivals.h"
#include "core/batches.h"
#include "core/books.h"
#include "core/demands.h"
#include "core/loads.h"
#include "core/queues.h"
#include "core/requests.h"
#include "core/runs.h"
#include "core/tenant_books.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"

namespace sluice::core {

struct Limits {
  std::size_t requests_max = 1'000'000;  // in the system at once
  std::size_t queue_max = 100'000;       // invocations in one queue
  std::uint32_t attempts_max = 3;        // after failures of machines, where a stage says nothing
  std::size_t decisions_max = 100'000;   // of queues at one instant
  std::size_t announced_max = 10'000;    // announcements whose instant has not come
  void visit(auto& archive) { archive(requests_max, queue_max, attempts_max, decisions_max, announced_max); }
};

// What the books of the past add up to; drivers and checkers read it.
struct Counters {
  std::uint64_t accepted = 0, rejected = 0, finished = 0, failed = 0, cancelled = 0;
  std::uint64_t batches = 0, invocations = 0, decisions = 0, retries = 0, loads = 0;
  std::uint64_t planned = 0, configuration_misses = 0;  // batches whose configuration was fixed earlier; that missed it
  PicoDollars billed;
  void visit(Archive& a) {
    a(accepted, rejected, finished, failed, cancelled, batches, invocations, decisions, retries, loads, planned,
      configuration_misses, billed);
  }
};

struct State {
  State(policy::Policies given, const Limits& most, const Transfer& moving);
  State(const State&) = delete;  // applications, loads and runs know other members
  State& operator=(const State&) = delete;

  // What policies see of it.
  [[nodiscard]] policy::View view() const;
  // A command leaves, with the next number.
  void tell(Commands& out, Action action, const Work& work = {});
  [[nodiscard]] bool is_due(std::optional<Time> at) const { return at && *at <= now; }
  // When a policy wants to be asked again. REQUIRES: not at this instant, or no time would ever pass.
  [[nodiscard]] std::optional<Time> later(std::optional<Time> wake_at) const;
  // Saves or loads all of it but `limits`, `transfer` and what is scratch (save.cpp).
  void visit(Archive& archive);

  policy::Policies policies;
  Limits limits;
  Transfer transfer;  // what moving inputs is believed to take
  Time now;           // the last instant the scheduler was told

  Queues queues;
  TenantBooks tenants;
  Applications applications;
  Books books;
  Loads loads;
  Demands demands;
  Requests requests;
  Runs runs;
  Batches batches;
  Arrivals arrivals;
  std::vector<RequestAnnounced> announced;  // as told; their instant has not come

  std::vector<Reply> answers;            // to tell at the end of the next decision
  std::vector<ReleaseObjects> releases;  // to tell after the answers
  std::vector<CancelBatch> cancels;      // to tell after the releases
  std::uint64_t next_invocation = 0, next_command = 0;
  std::optional<Time> wake;        // when dispatch wants to be asked again
  std::optional<Time> prewarm_at;  // when prewarming is asked again
  Time prewarm_after;              // and not before
  bool changed = false;            // something happened that may let a batch start
  Counters counters;

  policy::Proposals proposals;  // scratch
  policy::Wishes wishes;        // scratch
};

}  // namespace sluice::core
