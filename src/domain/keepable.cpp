#include "domain/keepable.h"

#include <algorithm>
#include <variant>

#include "domain/wiring.h"

namespace sluice {
namespace {

bool runs_on_gpu(const Function& function) {
  if (!function.gpu) return false;
  if (const auto* table = std::get_if<ProfileTable>(&function.profile)) {
    return std::ranges::any_of(table->rows, [](const ProfileRow& row) { return row.configuration.slices > 0; });
  }
  return std::holds_alternative<ProfileModel>(function.profile);
}

bool repeatable(const Workflow& workflow) {
  return std::ranges::all_of(workflow.stages, [](const Stage& stage) {
    return stage.idempotent && (!stage.foreach || std::ranges::all_of(stage.foreach->body, repeatable));
  });
}

bool handles(const Workflow& workflow, StageId id) {
  return std::ranges::any_of(workflow.stages, [&](const Stage& stage) {
    return std::ranges::find(stage.catches, id, &Catch::handler) != stage.catches.end();
  });
}

// A stage that runs its function on all that it reads, once.
bool plain(const Application& application, StageId id) {
  const Stage& stage = application.workflow.at(id);
  return stage.kind == Stage::Kind::run && !stage.foreach && !handles(application.workflow, id) &&
         runs_on_gpu(application.function(stage.function));
}

void refuse(std::vector<bool>& out, const Reference& read) {
  if (read.stage.valid()) out[read.stage.index()] = false;
}

void refuse(std::vector<bool>& out, const Condition& condition) {
  if (condition.kind == Condition::Kind::compare) refuse(out, condition.comparison.left);
  for (const Condition& term : condition.terms) refuse(out, term);
}

}  // namespace

std::vector<bool> keepable_stages(const Application& application) {
  const Workflow& workflow = application.workflow;
  std::vector<bool> out(workflow.size()), read(workflow.size());
  if (!repeatable(workflow)) return out;
  for (std::uint32_t s = 0; s < workflow.size(); ++s) out[s] = plain(application, StageId(s));
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    const Stage& stage = workflow.stages[s];
    if (stage.when) refuse(out, *stage.when);
    if (stage.foreach) refuse(out, stage.foreach->over);
    const bool reads_on_gpu = plain(application, StageId(s));
    for (const InputBinding& binding : wiring(application, workflow, StageId(s))) {
      if (!reads_on_gpu) refuse(out, binding.from);
      if (binding.from.stage.valid()) read[binding.from.stage.index()] = true;
    }
  }
  for (const OutputBinding& output : application.outputs) refuse(out, output.from);
  // What nobody reads is an output of the application, or nobody's.
  for (std::size_t s = 0; s < out.size(); ++s) out[s] = out[s] && read[s];
  if (!application.outputs.empty()) return out;
  std::vector<bool> followed(workflow.size());
  for (const Stage& stage : workflow.stages) {
    for (const StageId before : stage.after) followed[before.index()] = true;
  }
  for (std::size_t s = 0; s < out.size(); ++s) out[s] = out[s] && followed[s];
  return out;
}

}  // namespace sluice
