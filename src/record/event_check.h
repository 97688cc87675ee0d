// What the scheduler may be told. Drivers keep to it by themselves; a log comes from outside, and what breaks the
// scheduler's contract is an error of the file there, not a bug.
#pragma once
#include <memory>
#include <vector>

#include "base/result.h"
#include "core/scheduler.h"
#include "record/event_codec.h"

namespace sluice::record {

class EventCheck {
 public:
  EventCheck() = default;
  // Of a scheduler that has been told something already.
  explicit EventCheck(const core::Scheduler& scheduler);
  // Time never goes back.
  [[nodiscard]] Status check(Time at);
  // The event after those that were checked before: applications are deployed in the order of their ids and can be
  // planned, also with other profiles; requests are for one of them; machines are within the limits and run and hold
  // what they have room for.
  [[nodiscard]] Status check(const Observed& observed);

 private:
  [[nodiscard]] Status deployed(const ApplicationDeployed& event);
  [[nodiscard]] Status changed(const ProfileChanged& event);
  [[nodiscard]] Status check_branches(const BranchesKnown& event) const;
  Time last_;
  std::vector<std::shared_ptr<const Application>> applications_;  // with the profiles they were given last
};

}  // namespace sluice::record
