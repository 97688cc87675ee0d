// Control: how requests move through a deployed application. The stages of its workflow and of the bodies of its
// foreach stages in flat lists, with successors, joins and alternatives worked out once at deploy.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
  bool retired = false;                          // removed, and nothing of it is left: it has no workflow any more
};

// Where the queues of a new application go: the lowest places that are free, so that those of removed ones are used
// again.
class QueuePlaces {
 public:
  QueuePlaces(std::vector<policy::Queue>& queues, std::set<std::uint32_t>& free) : queues_(queues), free_(free) {}
  // Sets the id of the queue.
  policy::QueueId put(policy::Queue queue);

 private:
  std::vector<policy::Queue>& queues_;
  std::set<std::uint32_t>& free_;
};

// The queues of its stages are put into `places`; stages of the model are found by name; `shared` by FunctionId.
// REQUIRES: the planner is of this application, whose functions all have profiles.
[[nodiscard]] Control make_control(ApplicationId id, std::shared_ptr<const Application> application,
                                   std::shared_ptr<const plan::FrontierPlanner> planner,
                                   std::vector<policy::SharedFunctionId> shared, QueuePlaces places);

}  // namespace sluice::core
