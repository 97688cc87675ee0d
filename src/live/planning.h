// Planning: the thread that makes the plans the scheduler asks for while it runs. At most one task of an application is
// here at a time, since the scheduler asks for no more. Used by Runner.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "core/plans.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "invoker/task_thread.h"

namespace sluice::live {

class Planning {
 public:
  using Work = std::function<std::shared_ptr<const core::Plans>()>;

  // `made` is called in this thread.
  explicit Planning(std::function<void(PlansMade)> made) : made_(std::move(made)) {}

  void make(const MakePlans& order, Work work) {
    if (!work) return;  // nobody waits for it any more
    thread_.post([this, order, work = std::move(work)] { made_({order.application, order.revision, {work()}}); });
  }

 private:
  std::function<void(PlansMade)> made_;
  invoker::TaskThread thread_{invoker::TaskThread::Tasks::large};
};

}  // namespace sluice::live
