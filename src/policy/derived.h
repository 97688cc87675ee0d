// Derived: what a policy makes of an application's plans and would otherwise make when it is first asked for it, while
// everybody waits. Made beside the plans, by any thread; a policy that finds none makes it itself, and decides the
// same.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "domain/application.h"
#include "plan/workflow_model.h"

namespace sluice::policy {

struct Derived {
  virtual ~Derived() = default;
};

using DerivedList = std::vector<std::shared_ptr<const Derived>>;

// A pure function with copies of all it reads: any thread may call it. Null: the policy derives nothing.
using Derive =
    std::function<DerivedList(const std::shared_ptr<const plan::WorkflowModel>& model, const Application& application)>;
// What both of them derive.
[[nodiscard]] inline Derive both(Derive a, Derive b) {
  if (!a || !b) return a ? a : b;
  return [a = std::move(a), b = std::move(b)](const auto& model, const Application& application) {
    DerivedList out = a(model, application);
    for (auto& one : b(model, application)) out.push_back(std::move(one));
    return out;
  };
}

}  // namespace sluice::policy
