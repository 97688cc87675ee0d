// Derived: what a policy makes of an application's plans and would otherwise make when it is first asked for it, while
// everybody waits. Made beside the plans, by any thread; a policy that finds none makes it itself, and decides the
// same.
#pragma once
#include <functional>
#include <memory>

#include "domain/application.h"
#include "plan/frontier_planner.h"

namespace sluice::policy {

struct Derived {
  virtual ~Derived() = default;
};

// A pure function with copies of all it reads: any thread may call it. Null: the policy derives nothing.
using Derive = std::function<std::shared_ptr<const Derived>(const std::shared_ptr<const plan::FrontierPlanner>& planner,
                                                            const Application& application)>;

}  // namespace sluice::policy
