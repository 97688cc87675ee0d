// Liveness: a request that could run does, within a bound. It could run if for each of its functions a machine that can
// hold it runs nothing, within its tenant's quota, of which nothing is taken if there is one; loads and evictions are
// no excuse, so that machines which only load are found as well. Caveat: a request that is kept waiting while all
// machines are busy with others is found by the second bound only. Where machines are used in strict rotation one that
// is busy keeps everybody waiting: then all of them must run nothing.
#pragma once
#include <map>
#include <string>

#include "sim/oracle/history.h"

namespace sluice::sim {

class Liveness {
 public:
  explicit Liveness(bool in_rotation = false) : in_rotation_(in_rotation) {}
  void observed(const Event& event, Time now);
  // Before a decision: a request that those before it have kept waiting too long; empty: none. After it a machine that
  // was idle until now may have been given to another request.
  [[nodiscard]] std::string wrong(const History& history, Time now) const;

 private:
  struct Needs {  // of a function: one of these configurations, and memory
    std::vector<Configuration> configurations;
    Bytes memory;
  };
  struct Wants {
    std::vector<Needs> functions;  // that stages of it run
    Duration objective;            // as deployed
    Duration margin;               // cold starts and waits on the way
  };
  void deployed(const ApplicationDeployed& event);
  [[nodiscard]] static std::optional<Time> idle_since(const History& history, const Needs& needs,
                                                      const History::Tenant& tenant);
  // Since when all functions of the application could run; nothing: they cannot.
  [[nodiscard]] std::optional<Time> could_run_since(const History& history, ApplicationId application) const;

  // Since when no machine runs anything; nothing: some do.
  [[nodiscard]] static std::optional<Time> all_idle_since(const History& history);

  bool in_rotation_;
  std::map<ApplicationId, Wants> wants_;
  Time load_failed_;  // the last time: what could not be loaded could not run
};

}  // namespace sluice::sim
