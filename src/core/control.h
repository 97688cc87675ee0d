// Control: how requests move through a deployed application. The stages of its workflow and of the bodies of its
// foreach stages in flat lists, with successors, joins and alternatives worked out once at deploy.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/plans.h"
#include "core/queues.h"
#include "domain/application.h"
#include "policy/view.h"

namespace sluice::core {

struct ControlStage {
  const Stage* stage = nullptr;  // of the application, which outlives this
  std::vector<std::uint32_t> successors;
  std::uint32_t predecessors = 0;
  std::uint32_t needed = 0;                 // of them; skipped ones count as finished
  std::vector<std::uint32_t> alternatives;  // `otherwise`: the stages whose conditions must all be false
  policy::QueueId queue;                    // of a stage that runs a function
  std::uint32_t body = 0;                   // of a foreach with a workflow inside: which; 0: none
  std::vector<std::uint32_t> handlers;      // of its errors: they are over, unused, once all that could use them are
  bool exit = false;                        // nothing follows: the workflow is over when all these are
};

struct ControlWorkflow {
  std::vector<ControlStage> stages;
  std::vector<std::uint32_t> entries;
};

struct Control {
  std::shared_ptr<const Application> application;
  std::vector<ControlWorkflow> workflows;        // the first is the application's
  std::vector<policy::SharedFunctionId> shared;  // FunctionId is the position
  std::vector<policy::QueueId> queues;           // of its stages
  std::uint64_t in_use = 0;                      // requests in the system and batches that run
  bool calls_expected = false;                   // by many, soon
  bool retired = false;                          // removed, and nothing of it is left: it has no workflow any more
};

// The queues of its stages are put into `queues`; stages of the model are found by name; `shared` by FunctionId.
// REQUIRES: the plans are of this application.
[[nodiscard]] Control make_control(ApplicationId id, std::shared_ptr<const Application> application, const Plans& plans,
                                   std::vector<policy::SharedFunctionId> shared, Queues& queues);

}  // namespace sluice::core
