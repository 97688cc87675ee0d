// RunLog: a simulated run as two tables, a line per request and a line per action (docs/simulating.md has the columns).
// Lines are written as things happen, so that memory does not grow with the run.
#pragma once
#include <ostream>
#include <string>
#include <string_view>

#include "sim/observer.h"

namespace sluice::sim {

class RunLog final : public Observer {
 public:
  // Writes the heads. REQUIRES: both streams outlive this; whether they are still good is for their owner to look at.
  RunLog(std::ostream& requests, std::ostream& actions);
  void request(const RequestRow& row) override;
  void action(const ActionRow& row) override;

 private:
  std::ostream& requests_;
  std::ostream& actions_;
  std::string line_;  // scratch
};

[[nodiscard]] std::string_view name(Ending ending);
[[nodiscard]] std::string_view name(RejectReason reason);
[[nodiscard]] std::string_view name(ActionKind kind);
[[nodiscard]] std::string_view name(ActionEnd end);

}  // namespace sluice::sim
