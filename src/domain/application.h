// Application: a deployed workflow with its objective, the one number a user must think about.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/function.h"
#include "domain/workflow.h"

namespace sluice {

struct Objective {
  Duration latency;  // of the whole call
  // In (0, 100): the share of accepted requests that shall meet it, at the least cost. Absent: as many as possible.
  std::optional<double> percentile;
  std::optional<Dollars> cost;  // per request, if limited
  friend bool operator==(const Objective&, const Objective&) = default;
  void visit(auto& archive) { archive(latency, percentile, cost); }
};

// An output of the application: a name and the stage's output behind it.
struct OutputBinding {
  std::string name;
  Reference from;
  friend bool operator==(const OutputBinding&, const OutputBinding&) = default;
  void visit(auto& archive) { archive(name, from); }
};

struct Application {
  std::string name;
  std::string tenant = "default";
  Objective objective;
  std::vector<Function> functions;  // FunctionId is the position; sorted by name
  Workflow workflow;
  std::vector<OutputBinding> outputs;  // empty: all outputs of the exit stages
  Prices prices;
  [[nodiscard]] const Function& function(FunctionId id) const { return functions[id.index()]; }
  friend bool operator==(const Application&, const Application&) = default;
  void visit(auto& archive) { archive(name, tenant, objective, functions, workflow, outputs, prices); }
};

// What is still needed of an application that was removed: its functions, since instances of them may be loaded.
[[nodiscard]] inline std::shared_ptr<const Application> without_workflow(const Application& application) {
  return std::make_shared<const Application>(Application{.name = application.name,
                                                         .tenant = application.tenant,
                                                         .objective = application.objective,
                                                         .functions = application.functions,
                                                         .workflow = {},
                                                         .outputs = {},
                                                         .prices = application.prices});
}

}  // namespace sluice
