// Application: a deployed workflow with its objective, the one number a user must think about.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/function.h"
#include "domain/workflow.h"

namespace sluice {

// What time that is left may be used for: waiting for company makes requests cheaper and later. By default nobody waits
// longer than its own execution is expected to take; `cost`: for as long as the objective allows; `latency`: not at
// all.
enum class Prefer : std::uint8_t { balance, cost, latency };
inline constexpr std::array<std::string_view, 3> kPreferNames = {"balance", "cost", "latency"};
constexpr Prefer last_of(Prefer) {
  return Prefer::latency;
}

struct Objective {
  Duration latency;  // of the whole call
  // In (0, 100): the share of accepted requests that shall meet it, at the least cost. Absent: as many as possible.
  std::optional<double> percentile;
  std::optional<Dollars> cost;  // per request, if limited
  Prefer prefer = Prefer::balance;
  friend bool operator==(const Objective&, const Objective&) = default;
  void visit(auto& archive) { archive(latency, percentile, cost, prefer); }
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

// What is still needed of an application that was removed: its functions, since instances of them may be loaded. Of how
// long they take only the kind of device is kept, but of emulated ones all: it is what they run.
[[nodiscard]] inline std::shared_ptr<const Application> without_workflow(const Application& application) {
  auto out = std::make_shared<Application>(Application{.name = application.name,
                                                       .tenant = application.tenant,
                                                       .objective = application.objective,
                                                       .functions = application.functions,
                                                       .workflow = {},
                                                       .outputs = {},
                                                       .prices = application.prices});
  for (Function& function : out->functions) {
    auto* table = std::get_if<ProfileTable>(&function.profile);
    if (table == nullptr || table->rows.empty() || is_emulated(function)) continue;
    const auto on_gpu = std::find_if(table->rows.begin(), table->rows.end(),
                                     [](const ProfileRow& row) { return row.configuration.slices > 0; });
    table->rows = {on_gpu != table->rows.end() ? *on_gpu : table->rows.front()};
  }
  return out;
}

}  // namespace sluice
