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

// One way to run a batch: the oldest `batch` invocations of the queue, or as many as there are.
struct Proposal {
  Configuration configuration;
  InvokerId invoker;
  std::uint32_t members = 1;  // ≤ configuration.batch and ≤ what waits
};

// Ranked alternatives for one queue, and what finding them took.
struct Proposals {
  QueueId queue;
  std::vector<Proposal> ranked;
  Work work;
  void clear() {
    queue = QueueId::none();
    ranked.clear();
    work = {};
  }
};

class Dispatch {
 public:
  virtual ~Dispatch() = default;
  // A new instant has begun: everything observed since the last one is in the view.
  virtual void begin(const View& view) = 0;
  // The next queue's alternatives; false when there is nothing more to do at this instant.
  virtual bool next(const View& view, Proposals& out) = 0;
  // Which alternative was booked; nothing: none fitted.
  virtual void told(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) = 0;
  virtual void visit(Archive& archive) = 0;
};

struct Admitted {
  bool accept = true;
  RejectReason reason = RejectReason::slo_infeasible;
  double needed = 0, available = 0;  // milliseconds
};

class Admission {
 public:
  virtual ~Admission() = default;
  [[nodiscard]] virtual Admitted admit(const View& view, ApplicationId application, Time deadline) = 0;
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
};

}  // namespace sluice::policy
