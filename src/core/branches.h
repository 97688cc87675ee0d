// Branches: how often the conditions of an application hold and how many items its fan-outs have, learned from what
// requests and results tell. What planners believe changes only when it is off by enough to matter, since their plans
// and tables are made again then. One for each application; linear workflows never have anything to learn.
// Known caveats: a share is of the requests that are told of the condition, not of those that get that far. A stage
// with `otherwise` is learned where the verdicts on all of its alternatives are told together.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "base/archive.h"
#include "domain/application.h"
#include "domain/event_parts.h"
#include "domain/events.h"
#include "plan/workflow_model.h"

namespace sluice::core {

class Branches {
 public:
  // True if planners should believe something else from now on: assumptions().
  bool note(const Application& application, std::span<const Verdict> verdicts, std::span<const FanOut> fan_outs);
  // Believes what an earlier scheduler did of the stages that there still are, until requests teach otherwise.
  void assume(const Application& application, const BranchesKnown& known);
  [[nodiscard]] plan::ModelAssumptions assumptions() const;
  // Whether planners believe anything but what is assumed of every application.
  [[nodiscard]] bool empty() const { return shares_.empty() && items_.empty(); }
  void visit(Archive& archive) { archive(shares_, items_); }

 private:
  struct Mean {
    std::uint64_t seen = 0;
    double value = 0;     // exponential
    double believed = 0;  // by planners
    bool is_believed = false;
    // True if `believed` has become another.
    bool add(double sample, double tolerance);
    void assume(double known);
    void visit(Archive& a) { a(seen, value, believed, is_believed); }
  };
  bool note_otherwise(const Application& application, std::span<const Verdict> verdicts);

  // By name of the stage, as models have it ("each object/crop").
  std::map<std::string, Mean> shares_;  // of the requests whose condition is true
  std::map<std::string, Mean> items_;
};

}  // namespace sluice::core
