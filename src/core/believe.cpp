// How planners come to believe something else: it is noted, plans of it are ordered, and when they are there, the
// planners have them. They go on with what they believed before until then.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/applications.h"

namespace sluice::core {

const std::shared_ptr<const Application>& Applications::application_of(ApplicationId id, const Belief& belief) const {
  return belief.application != nullptr ? belief.application : controls_[id.index()].application;
}

// `application`: null: as it was deployed.
void Applications::revise(ApplicationId id, std::shared_ptr<const Application> application) {
  plan::ModelAssumptions assumptions = branches_[id.index()].assumptions();
  for (const policy::SharedFunctionId function : controls_[id.index()].shared) {
    assumptions.stragglers.push_back(learned_[function.index()].stragglers);
    assumptions.neighbours.push_back(learned_[function.index()].published_neighbours);
  }
  beliefs_[id.index()].revise(std::move(application), std::move(assumptions));
  revised_.push_back(id);
}

std::vector<MakePlans> Applications::orders() {
  std::vector<MakePlans> out;
  if (revised_.empty()) return out;
  std::sort(revised_.begin(), revised_.end());
  for (const ApplicationId id : revised_) {
    Beliefs& beliefs = beliefs_[id.index()];
    if (beliefs.waits()) out.push_back({id, beliefs.order()});
  }
  revised_.clear();
  return out;
}

const Belief* Applications::ordered(const MakePlans& order) const {
  if (order.application.index() >= beliefs_.size()) return nullptr;
  const auto& under_way = beliefs_[order.application.index()].under_way();
  return under_way && under_way->revision == order.revision ? &*under_way : nullptr;
}

bool Applications::made(const PlansMade& event) {
  const Belief* belief = ordered({event.application, event.revision});
  if (belief == nullptr) return false;
  const auto plans = event.brought.plans != nullptr ? event.brought.plans : plans_of(event.application, *belief);
  Beliefs& beliefs = beliefs_[event.application.index()];
  (void)beliefs.made(event.revision);
  if (beliefs.waits()) revised_.push_back(event.application);
  believe(event.application, *plans);
  return true;
}

std::shared_ptr<const Plans> Applications::plans_of(ApplicationId id, const Belief& belief) {
  ++plans_made_here_;
  return make_plans(*application_of(id, belief), belief.assumptions);
}

// Stages and queues stay as they are; only what planners believe changes.
void Applications::believe(ApplicationId id, const Plans& plans) {
  policy::ApplicationModel& model = models_[id.index()];
  model.application = application_of(id, beliefs_[id.index()].believed());
  model.model = plans.workflow;
  model.derived = plans.derived;
  std::size_t handlers = 0;
  for (const policy::QueueId place : controls_[id.index()].queues) {
    policy::Queue& queue = queues_[place];
    CHECK(queue.handler == nullptr || handlers < plans.handlers.size());
    queue.pace.revised();
    queue.model = queue.handler == nullptr ? plans.workflow : plans.handlers[handlers++];
  }
}

}  // namespace sluice::core
