// Demands: how much every function is needed (policy/demand.h), fed by events while there are machines on which
// functions have to be loaded.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "core/requests.h"
#include "policy/demand.h"
#include "policy/view.h"

namespace sluice::core {

class Demands {
 public:
  [[nodiscard]] std::span<const policy::Demand> all() const { return demands_; }

  // The request will come to a stage that runs the function.
  void expect(Request& request, policy::SharedFunctionId function) {
    request.ahead.push_back(function);
    ++of(function).ahead;
  }
  // It has: the invocation is ready.
  void reached(Request& request, policy::SharedFunctionId function, Time now) {
    of(function).called(now);
    const auto it = std::find(request.ahead.begin(), request.ahead.end(), function);
    if (it == request.ahead.end()) return;
    request.ahead.erase(it);
    --of(function).ahead;
  }
  // It will come to no further stage.
  void ended(Request& request) {
    for (const policy::SharedFunctionId function : request.ahead) --of(function).ahead;
    request.ahead.clear();
  }
  void loaded(policy::SharedFunctionId function, Duration measured, bool from_host) {
    if (measured > Duration{}) of(function).loaded(measured.to_ms(), from_host);
  }

  void visit(Archive& archive) { archive(demands_); }

 private:
  policy::Demand& of(policy::SharedFunctionId function) {
    if (function.index() >= demands_.size()) demands_.resize(function.index() + 1);
    return demands_[function.index()];
  }

  std::vector<policy::Demand> demands_;  // SharedFunctionId is the position
};

}  // namespace sluice::core
