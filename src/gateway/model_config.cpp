#include "gateway/model_config.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "domain/limits.h"
#include "domain/wiring.h"
#include "gateway/model_pages.h"
#include "gateway/oip_input.h"

namespace sluice::gateway {
namespace {

using nlohmann::ordered_json;

ordered_json ports_of(const std::vector<Port>& ports) {
  ordered_json list = ordered_json::array();
  for (const Port& port : ports) {
    const std::string type = port.type == DataType::bytes ? "TYPE_STRING" : str("TYPE_", name_of(port.type));
    list.push_back({{"name", port.name}, {"data_type", type}, {"dims", port.shape}});
  }
  return list;
}

// The steps of one workflow. Tensors between steps are named STAGE.OUTPUT; those of the whole have their own names.
class Steps {
 public:
  explicit Steps(const Application& application) : application_(application) {
    for (const OutputBinding& output : application.outputs) named_.insert({output.from, output.name});
  }

  // `path`: "OUTER/" inside of a `foreach`.
  void add(const Workflow& workflow, const std::string& path) {
    const std::set<Reference> read = references(workflow);
    for (std::uint32_t i = 0; i < workflow.size(); ++i) {
      const Stage& stage = workflow.stages[i];
      if (stage.foreach && !stage.foreach->body.empty()) {
        add(stage.foreach->body.front(), str(path, stage.name, "/"));
      } else if (stage.kind == Stage::Kind::run) {
        steps_.push_back(step(workflow, StageId(i), path, read));
      }
    }
  }
  [[nodiscard]] ordered_json take() { return std::move(steps_); }

 private:
  // Everything that a stage reads, or that leaves the application.
  [[nodiscard]] std::set<Reference> references(const Workflow& workflow) const {
    std::set<Reference> out;
    for (std::uint32_t i = 0; i < workflow.size(); ++i) {
      for (const InputBinding& input : wiring(application_, workflow, StageId(i))) out.insert(input.from);
    }
    if (&workflow == &application_.workflow) {
      for (const OutputBinding& output : application_.outputs) out.insert(output.from);
    }
    return out;
  }

  [[nodiscard]] ordered_json step(const Workflow& workflow, StageId id, const std::string& path,
                                  const std::set<Reference>& read) const {
    const Stage& stage = workflow.at(id);
    ordered_json inputs = ordered_json::object(), outputs = ordered_json::object();
    for (const InputBinding& input : wiring(application_, workflow, id)) {
      const bool known = input.input != kEverything && input.from.output != kEverything;
      if (known) inputs[input.input] = tensor(workflow, input.from, path);
    }
    if (const auto* declared = declared_outputs(application_, stage)) {
      for (const Port& port : *declared) outputs[port.name] = tensor(workflow, {id, port.name}, path);
    }
    for (const Reference& reference : read) {
      const bool of_stage = reference.stage == id && reference.output != kEverything;
      if (of_stage) outputs[reference.output] = tensor(workflow, reference, path);
    }
    // Its function is a model of this name, whatever other functions are called.
    return {{"model_name", str(application_.name, ".", application_.function(stage.function).name)},
            {"model_version", -1},
            {"input_map", std::move(inputs)},
            {"output_map", std::move(outputs)}};
  }

  [[nodiscard]] std::string tensor(const Workflow& workflow, const Reference& reference,
                                   const std::string& path) const {
    const bool outermost = &workflow == &application_.workflow;
    if (reference.stage == StageId::none()) return str(path, reference.output);
    if (const auto named = named_.find(reference); outermost && named != named_.end()) return named->second;
    const bool leaves = application_.outputs.empty() && is_exit(workflow, reference.stage);
    if (outermost && leaves) return reference.output;
    return str(path, workflow.at(reference.stage).name, ".", reference.output);
  }

  static bool is_exit(const Workflow& workflow, StageId id) {
    return std::ranges::none_of(
        workflow.stages, [&](const Stage& stage) { return std::ranges::find(stage.after, id) != stage.after.end(); });
  }

  const Application& application_;
  std::map<Reference, std::string> named_;  // outputs of the whole; the first name of each
  ordered_json steps_ = ordered_json::array();
};

ordered_json parameter(std::string text) {
  return {{"string_value", std::move(text)}};
}

// The objective under the names that an imported ensemble gives it by (docs/triton.md).
ordered_json parameters_of(const live::Model& model) {
  ordered_json out = {{"batch_max", parameter(str(model.batch_max))}};
  if (model.is_function || model.application == nullptr) return out;
  const Objective& objective = model.application->objective;
  if (objective.latency > Duration{}) out["slo_ms"] = parameter(str(objective.latency.to_ms()));
  if (objective.percentile) out["slo_percentile"] = parameter(str(*objective.percentile));
  return out;
}

}  // namespace

std::string model_config(const live::Model& model) {
  ordered_json config = {{"name", model.name}, {"platform", platform_of(model)}};
  if (model.is_function) config["backend"] = "sluice";
  config["version_policy"] = {{"latest", {{"num_versions", 1}}}};
  config["max_batch_size"] =
      model.inputs.empty() ? 1 : limits::request_rows_max;  // of inputs that are not declared rows are unknown
  config["input"] = ports_of(model.inputs);
  config["output"] = ports_of(model.outputs);
  if (model.is_function) {
    config["dynamic_batching"] = ordered_json::object();
  } else {
    ordered_json list = ordered_json::array();
    if (model.application != nullptr) {
      Steps steps(*model.application);
      steps.add(model.application->workflow, "");
      list = steps.take();
    }
    config["ensemble_scheduling"] = {{"step", std::move(list)}};
  }
  config["parameters"] = parameters_of(model);
  return config.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace sluice::gateway
