#include "domain/alternatives.h"

namespace sluice {

bool is_otherwise(const Stage& stage) {
  return stage.when && stage.when->kind == Condition::Kind::otherwise;
}

std::vector<StageId> alternatives_of(const Workflow& workflow, const Stage& otherwise) {
  std::vector<StageId> out;
  for (std::uint32_t i = 0; i < workflow.size(); ++i) {
    const Stage& stage = workflow.stages[i];
    if (stage.when && !is_otherwise(stage) && stage.after == otherwise.after) out.emplace_back(i);
  }
  return out;
}

}  // namespace sluice
