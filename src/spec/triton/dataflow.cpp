#include "spec/triton/dataflow.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::triton {
namespace {

constexpr std::string_view kRequest = "request";  // "request.image" is an input of the request

std::string quote(std::string_view text) {
  return str("'", printable(text), "'");
}

// Stages are named after their models; the second stage of a model is "resize 2".
class StageNames {
 public:
  [[nodiscard]] std::string give(const std::string& model) {
    if (taken_.insert(model).second) return model;
    for (std::size_t& number = numbers_.emplace(model, 2).first->second;; ++number) {
      std::string name = str(model, " ", number);
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> numbers_;  // the first that may be free
};

class Connector {
 public:
  Connector(const std::string& file, Diagnostics& out) : file_(file), out_(out) {}

  void declare(const Tensor& input) {
    makers_.emplace(input.port.name, Maker{.output = input.port.name, .mark = input.mark});
  }
  [[nodiscard]] std::string add_stage(const Step& step);
  [[nodiscard]] StageDraft stage(const Step& step, const std::string& name);
  void add_output(const Tensor& tensor, Flow& flow);
  void warn_of_unused(const Ensemble& ensemble) const;

 private:
  // Who makes a tensor.
  struct Maker {
    std::string stage;  // empty: the request
    std::string output;
    Mark mark;
    bool used = false;
    [[nodiscard]] std::string reference() const {
      return str(stage.empty() ? kRequest : std::string_view(stage), ".", output);
    }
  };
  [[nodiscard]] std::string hint(const std::string& tensor) const;
  [[nodiscard]] bool used(const std::string& tensor) const {
    const auto it = makers_.find(tensor);
    return it != makers_.end() && it->second.used;
  }

  const std::string& file_;
  Diagnostics& out_;
  StageNames names_;
  std::map<std::string, Maker> makers_;               // by the ensemble's name of the tensor
  std::map<std::string, std::string> model_outputs_;  // the model's name of an output → the ensemble's
};

// Names the stage and books what it makes, before anyone asks: steps may stand in any order.
std::string Connector::add_stage(const Step& step) {
  const bool named = !step.model.text.empty();
  std::string name = names_.give(named ? step.model.text : "step");
  const std::string field = str(step.path, ".model_name");
  if (named && !legal_name(name))
    out_.error(file_, step.model.mark, field,
               str("the stage's name ", quote(name), " is longer than ", limits::name_length_max, " characters"));
  for (const auto& [output, tensor] : step.outputs) {
    const auto [it, fresh] =
        makers_.emplace(tensor.text, Maker{.stage = name, .output = output.text, .mark = tensor.mark});
    model_outputs_.emplace(output.text, tensor.text);
    if (fresh) continue;
    const Maker& first = it->second;
    const std::string who =
        first.stage.empty() ? "an input of the ensemble" : str("made by the step ", quote(first.stage));
    out_.error(file_, tensor.mark, str(step.path, ".output_map"),
               str("the tensor ", quote(tensor.text), " is already ", who, " (line ", first.mark.line,
                   "); every tensor needs a name of its own"));
  }
  return name;
}

StageDraft Connector::stage(const Step& step, const std::string& name) {
  StageDraft draft{.name = {name, step.mark}, .function = step.model};
  draft.stage.name = name;
  draft.marks["function"] = step.model.mark;
  std::set<std::string_view> predecessors;
  for (const auto& [input, tensor] : step.inputs) {
    const auto it = makers_.find(tensor.text);
    if (it == makers_.end()) {
      out_.error(file_, tensor.mark, str(step.path, ".input_map"),
                 str("the tensor ", quote(tensor.text), " is neither an input of the ensemble nor made by a step.",
                     hint(tensor.text)));
      continue;
    }
    Maker& maker = it->second;
    maker.used = true;
    draft.inputs.emplace_back(input, Name{maker.reference(), tensor.mark});
    draft.marks.emplace("inputs", tensor.mark);
    if (maker.stage.empty() || !predecessors.insert(maker.stage).second) continue;
    draft.after.push_back({maker.stage, tensor.mark});
    draft.marks.emplace("after", tensor.mark);
  }
  return draft;
}

void Connector::add_output(const Tensor& tensor, Flow& flow) {
  const std::string& name = tensor.port.name;
  const auto it = makers_.find(name);
  if (it == makers_.end()) {
    out_.error(file_, tensor.mark, "output", str("no step makes the tensor ", quote(name), ".", hint(name)));
  } else if (it->second.stage.empty()) {
    out_.error(file_, tensor.mark, "output",
               str("the tensor ", quote(name), " is an input of the ensemble; no step makes it"));
  } else {
    it->second.used = true;
    flow.outputs.emplace_back(Name{name, tensor.mark}, Name{it->second.reference(), tensor.mark});
  }
}

void Connector::warn_of_unused(const Ensemble& ensemble) const {
  for (const Tensor& input : ensemble.inputs) {
    if (!used(input.port.name))
      out_.warning(file_, input.mark, "input", str("no step reads the input ", quote(input.port.name)));
  }
  for (const Step& step : ensemble.steps) {
    const bool any =
        std::any_of(step.outputs.begin(), step.outputs.end(), [&](const auto& o) { return used(o.second.text); });
    if (!any && !step.outputs.empty())
      out_.warning(file_, step.mark, step.path, "runs with every request, but nobody reads what it makes");
  }
}

// What the author may have meant by a tensor that nobody makes. Most often key and value are mixed up.
std::string Connector::hint(const std::string& tensor) const {
  if (const auto it = model_outputs_.find(tensor); it != model_outputs_.end()) {
    return str(" It is a model's name of an output; the ensemble calls that tensor ", quote(it->second), ".");
  }
  if (out_.errors() >= limits::errors_reported_max) return "";  // nobody will read it
  std::vector<std::string_view> candidates;
  for (const auto& [name, maker] : makers_) candidates.push_back(name);
  return near(tensor, candidates);
}

}  // namespace

Flow connect(const Ensemble& ensemble, const std::string& file, Diagnostics& out) {
  Connector connector(file, out);
  for (const Tensor& input : ensemble.inputs) connector.declare(input);
  std::vector<std::string> names;
  for (const Step& step : ensemble.steps) names.push_back(connector.add_stage(step));
  Flow flow;
  for (std::size_t i = 0; i < names.size(); ++i) flow.stages.push_back(connector.stage(ensemble.steps[i], names[i]));
  for (const Tensor& output : ensemble.outputs) connector.add_output(output, flow);
  connector.warn_of_unused(ensemble);
  return flow;
}

}  // namespace sluice::spec::triton
