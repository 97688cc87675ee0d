#include "domain/wiring.h"

#include <algorithm>

namespace sluice {
namespace {

bool bound(const std::vector<InputBinding>& bindings, std::string_view input) {
  return std::any_of(bindings.begin(), bindings.end(), [&](const InputBinding& b) { return b.input == input; });
}

bool declares(const std::vector<Port>* ports, std::string_view name) {
  return ports == nullptr ||
         std::any_of(ports->begin(), ports->end(), [&](const Port& port) { return port.name == name; });
}

}  // namespace

const std::vector<Port>* declared_inputs(const Application& application, const Stage& stage) {
  if (stage.kind != Stage::Kind::run) return nullptr;
  const std::vector<Port>& ports = application.function(stage.function).inputs;
  return ports.empty() ? nullptr : &ports;
}

const std::vector<Port>* declared_outputs(const Application& application, const Stage& stage) {
  if (stage.kind != Stage::Kind::run) return nullptr;
  const std::vector<Port>& ports = application.function(stage.function).outputs;
  return ports.empty() ? nullptr : &ports;
}

std::vector<InputBinding> wiring(const Application& application, const Workflow& workflow, StageId stage) {
  const Stage& reader = workflow.at(stage);
  std::vector<InputBinding> out = reader.inputs;
  const std::vector<Port>* inputs = declared_inputs(application, reader);
  if (inputs == nullptr) {
    if (!out.empty()) return out;
    if (reader.after.empty()) out.push_back({std::string(kEverything), {StageId::none(), std::string(kEverything)}});
    for (const StageId before : reader.after)
      out.push_back({std::string(kEverything), {before, std::string(kEverything)}});
    return out;
  }
  for (const Port& input : *inputs) {
    if (bound(out, input.name)) continue;
    if (reader.after.empty()) {
      out.push_back({input.name, {StageId::none(), input.name}});
    } else if (reader.after.size() == 1 &&
               declares(declared_outputs(application, workflow.at(reader.after.front())), input.name)) {
      out.push_back({input.name, {reader.after.front(), input.name}});
    }
  }
  std::sort(out.begin(), out.end(), [](const InputBinding& a, const InputBinding& b) { return a.input < b.input; });
  return out;
}

}  // namespace sluice
