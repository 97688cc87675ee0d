// Plans: all that is made from what is believed of an application. Takes milliseconds, up to tens of them where a
// policy derives its tables too; so the live server makes plans in other threads (live/runner.h, live/deployments.h)
// and events bring them. A pure function of the belief: plans that the scheduler makes itself give the same decisions.
#pragma once
#include <memory>
#include <vector>

#include "domain/application.h"
#include "plan/workflow_model.h"
#include "policy/derived.h"

namespace sluice::core {

struct Plans {
  std::shared_ptr<const plan::WorkflowModel> workflow;
  // Of stages that only handle errors, each planned alone: in the order of the stages, bodies of a foreach after it.
  std::vector<std::shared_ptr<const plan::WorkflowModel>> handlers;
  policy::DerivedList derived;  // from all of these models
};

// Any thread may call it. `derive`: null derives nothing. REQUIRES: the application can be planned.
[[nodiscard]] std::shared_ptr<const Plans> make_plans(const Application& application,
                                                      const plan::ModelAssumptions& assumptions,
                                                      const policy::Derive& derive = {});

}  // namespace sluice::core
