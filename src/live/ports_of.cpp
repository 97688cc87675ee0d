#include "live/ports_of.h"

#include <algorithm>

#include "domain/wiring.h"

namespace sluice::live {
namespace {

bool has_body(const Stage& stage) {
  return stage.foreach && !stage.foreach->body.empty();
}
bool reads_request(const Stage& stage) {
  return !stage.foreach->over.stage.valid() ||
         std::any_of(stage.inputs.begin(), stage.inputs.end(),
                     [](const InputBinding& binding) { return !binding.from.stage.valid(); });
}

}  // namespace

std::uint32_t batch_max_of(const Application& application) {
  std::uint32_t most = 1;
  for (const Function& function : application.functions) {
    if (const auto* table = std::get_if<ProfileTable>(&function.profile)) {
      for (const ProfileRow& row : table->rows) most = std::max<std::uint32_t>(most, row.configuration.batch);
    } else if (const auto* model = std::get_if<ProfileModel>(&function.profile)) {
      for (const std::uint16_t batch : model->batch) most = std::max<std::uint32_t>(most, batch);
    }
  }
  return most;
}

bool goes_over_lists(const Application& application) {
  const Workflow& workflow = application.workflow;
  return std::any_of(workflow.stages.begin(), workflow.stages.end(), [&](const Stage& stage) {
    if (!stage.foreach) return false;
    const StageId from = stage.foreach->over.stage;
    return !from.valid() || workflow.at(from).kind != Stage::Kind::run;  // a stage that runs nothing hands inputs on
  });
}

std::vector<Port> inputs_of(const Application& application) {
  std::vector<Port> out;
  const Workflow& workflow = application.workflow;
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    const Stage& stage = workflow.stages[s];
    if (has_body(stage) && reads_request(stage)) return {};
    if (stage.kind != Stage::Kind::run) continue;
    const auto wired = wiring(application, workflow, StageId(s));
    for (const Port& declared : application.function(stage.function).inputs) {
      const auto binding =
          std::find_if(wired.begin(), wired.end(), [&](const InputBinding& b) { return b.input == declared.name; });
      if (binding == wired.end() || binding->from.stage.valid()) continue;
      Port port = declared;
      port.name = binding->from.output;
      if (stage.foreach && binding->from == stage.foreach->over) port.shape.insert(port.shape.begin(), -1);
      const auto same = [&](const Port& p) { return p.name == port.name; };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(port));
    }
  }
  return out;
}

std::vector<Port> outputs_of(const Application& application) {
  std::vector<Port> out;
  const Workflow& workflow = application.workflow;
  std::vector<bool> followed(workflow.size());
  for (const Stage& stage : workflow.stages) {
    for (const StageId before : stage.after) followed[before.index()] = true;
  }
  bool unknown = false;  // what a workflow inside of a foreach leaves is not declared
  const auto add = [&](const Stage& stage, const std::string& wanted, const std::string& as) {
    unknown = unknown || has_body(stage);
    if (stage.kind != Stage::Kind::run) return;
    for (const Port& port : application.function(stage.function).outputs) {
      if (!wanted.empty() && port.name != wanted) continue;
      out.push_back(port);
      if (!as.empty()) out.back().name = as;
      if (stage.foreach) out.back().shape.insert(out.back().shape.begin(), -1);
    }
  };
  for (const OutputBinding& binding : application.outputs) {
    if (binding.from.stage.valid()) add(workflow.at(binding.from.stage), binding.from.output, binding.name);
  }
  for (std::size_t s = 0; s < workflow.size() && application.outputs.empty(); ++s) {
    if (!followed[s]) add(workflow.stages[s], "", "");
  }
  return unknown ? std::vector<Port>{} : out;
}

}  // namespace sluice::live
