// RunPath: which run of a request. Runs are those of the application's own workflow and of the bodies of its foreach
// stages. A foreach starts one run an item, once, so that commands, events, objects and traces name runs alike.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "domain/application.h"
#include "domain/ids.h"

namespace sluice {

// One item of a stage with a workflow inside.
struct ItemOf {
  StageId stage;
  std::uint32_t item = 0;
  friend auto operator<=>(const ItemOf&, const ItemOf&) = default;
  void visit(auto& archive) { archive(stage, item); }
};
// Through which items one gets to the run, the outermost first. Empty: the application's own workflow.
using RunPath = std::vector<ItemOf>;

// The workflow of a run. REQUIRES: the path leads through stages of the application that have one inside.
[[nodiscard]] const Workflow& workflow_of(const Application& application, const RunPath& path);
// The name of a stage of a run for people: "detect", inside of a foreach "each object/crop". REQUIRES: likewise.
[[nodiscard]] std::string stage_name(const Application& application, const RunPath& path, StageId stage);

}  // namespace sluice
