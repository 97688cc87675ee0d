// Orion's search as the scheduler `orion` asks for it: by queue, with searches remembered by batch cap and whole
// millisecond. Derived from applications, never saved.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/rivals/orion.h"
#include "policy/search_memo.h"

namespace sluice::policy {

struct OrionPlannerOptions {
  plan::OrionOptions search;
  bool cap = true;   // no larger batches than what waits
  bool memo = true;  // budgets are rounded down to 1 ms and answers remembered; else neither
  std::size_t memo_max = 100'000;
};

class OrionPlanner {
 public:
  explicit OrionPlanner(const OrionPlannerOptions& options) : options_(options), memo_(options.memo_max) {}
  // A plan of the queue's whole workflow when `waiting` invocations could be batched. Valid until the next one.
  const plan::OrionPlan& find(const Queue& queue, std::size_t waiting, double budget_ms);

 private:
  struct Workflow {
    std::shared_ptr<const plan::WorkflowModel> model;  // it was built from
    plan::OrionSearch search;
    std::vector<plan::BatchCap> caps;  // every batch there is, ascending: between two, caps are the same
  };
  Workflow& workflow(const Queue& queue);
  [[nodiscard]] plan::BatchCap cap(const Workflow& workflow, std::size_t waiting) const;

  OrionPlannerOptions options_;
  std::vector<std::unique_ptr<Workflow>> workflows_;  // by queue
  plan::OrionWorkspace workspace_;
  SearchMemo<plan::OrionPlan> memo_;
  plan::OrionPlan last_;  // without a memo
};

}  // namespace sluice::policy
