#include "spec/triton/triton.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/triton/dataflow.h"
#include "spec/triton/fields.h"
#include "spec/triton/parameters.h"

namespace sluice::spec {
namespace {

using triton::Message;
using triton::Role;
using triton::Step;
using triton::Tensor;

constexpr std::string_view kBatches = "Sluice chooses batches by the objective";
constexpr std::array<Message::Ignored, 16> kIgnored = {{
    {"version_policy", "a function has one version, that of its content"},
    {"optimization", "functions are optimised when they are loaded"},
    {"instance_group", "Sluice chooses where functions are loaded, and how often"},
    {"dynamic_batching", kBatches},
    {"sequence_batching", kBatches},
    {"batch_input", kBatches},
    {"batch_output", kBatches},
    {"model_warmup", "Sluice loads functions ahead of their use by itself"},
    {"response_cache", "answers are not cached"},
    {"metric_tags", "metrics carry application, stage and tenant"},
    {"model_metrics", "metrics carry application, stage and tenant"},
    {"default_model_filename", "an ensemble has no model file"},
    {"cc_model_filenames", "an ensemble has no model file"},
    {"model_operations", "an ensemble has no model file"},
    {"model_repository_agents", "files are read as they are"},
    {"runtime", "an ensemble has no backend library"},
}};

std::string_view text_of(const Node& document, std::string_view field) {
  const Node* node = document.find(field);
  return node != nullptr && node->kind == Node::Kind::scalar ? std::string_view(node->text) : std::string_view();
}

// Triton, too, takes a configuration without a platform for an ensemble if it has steps.
bool is_ensemble(const Node& document) {
  const std::string_view platform = text_of(document, "platform"), backend = text_of(document, "backend");
  if (platform.empty() && backend.empty()) return document.find("ensemble_scheduling") != nullptr;
  return (platform.empty() ? backend : platform) == "ensemble";
}

void report_no_ensemble(const Cursor& root) {
  const std::string_view platform = text_of(root.node(), "platform"), backend = text_of(root.node(), "backend");
  std::string what = "it has neither a platform nor ensemble_scheduling";
  if (!backend.empty()) what = str("its backend is '", printable(backend), "'");
  if (!platform.empty()) what = str("its platform is '", printable(platform), "'");
  root.error(str("this is not an ensemble: ", what,
                 ". Only a configuration with platform: \"ensemble\" describes a workflow"));
}

std::optional<Name> read_model_name(Message& message, const Cursor& cursor, const TritonSource& source) {
  if (const auto field = message.one("name")) {
    auto name = field->name();
    if (!name) return std::nullopt;
    return Name{std::move(*name), field->mark()};
  }
  if (legal_name(source.name)) return Name{source.name, cursor.mark()};
  cursor.error(str("the field 'name' is missing, and '", printable(source.name),
                   "' cannot stand in for it; write name: \"my-application\""));
  return std::nullopt;
}

void read_batch_size(Message& message) {
  const auto field = message.one("max_batch_size");
  const auto size = field ? field->integer(0, std::numeric_limits<std::int32_t>::max()) : std::nullopt;
  if (size.value_or(0) > 0) field->warning(str("ignored: ", kBatches, "; a request brings one of each input"));
}

void read_transactions(Message& message) {
  const auto field = message.one("model_transaction_policy");
  if (!field) return;
  Message policy(*field);
  const auto decoupled = policy.one("decoupled");
  policy.finish();
  if (decoupled && decoupled->boolean().value_or(false))
    decoupled->error("is not supported: every request gets exactly one answer");
}

Function emulated(std::string name) {
  const Body body{.runtime = Runtime::emulated};
  return {.name = std::move(name), .cpu = body, .gpu = body};
}

// The functions of the steps, each once, in order of first use.
void add_functions(const std::vector<Step>& steps, const TritonSource& source, ApplicationDraft& draft,
                   Diagnostics& out) {
  std::map<std::string_view, const FunctionDraft*> known;
  for (const FunctionDraft& function : source.known) known.emplace(function.function.name, &function);
  std::vector<std::string_view> names;
  for (const auto& [name, function] : known) names.push_back(name);
  std::set<std::string_view> seen;
  std::size_t warnings = 0;
  for (const Step& step : steps) {
    const std::string& model = step.model.text;
    if (model.empty() || !seen.insert(model).second) continue;
    if (const auto it = known.find(model); it != known.end()) {
      draft.functions.push_back(*it->second);
      continue;
    }
    draft.functions.push_back({.function = emulated(model), .file = source.file, .mark = step.model.mark});
    if (++warnings > limits::errors_reported_max) continue;
    out.warning(source.file, step.model.mark, str(step.path, ".model_name"),
                str("there is no function '", model,
                    "', so this step is emulated. Describe it in functions.yaml beside this file or in ../", model,
                    "/config.pbtxt.", triton::near(model, names)));
  }
}

std::vector<Port> ports_of(const std::vector<Tensor>& tensors) {
  std::vector<Port> out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.port);
  return out;
}

// Whether the inputs of a model can be declared, so that build() checks how they are wired: a port cannot be optional.
bool declarable(const std::vector<Cursor>& inputs) {
  return std::none_of(inputs.begin(), inputs.end(),
                      [](const Cursor& c) { return text_of(c.node(), "optional") == "true"; });
}

}  // namespace

std::optional<TritonEnsemble> read_triton(const Node& document, const TritonSource& source, Diagnostics& out) {
  const std::size_t errors_before = out.errors();
  const Cursor root(document, source.file, "", out);
  if (!root.is(Node::Kind::map)) return std::nullopt;
  if (!is_ensemble(document)) {
    report_no_ensemble(root);
    return std::nullopt;
  }
  Message message(root);
  TritonEnsemble ensemble;
  ApplicationDraft& draft = ensemble.draft;
  draft.file = source.file;
  if (const auto name = read_model_name(message, root, source)) {
    draft.application.name = name->text;
    draft.marks["application"] = name->mark;
  }
  (void)message.one("platform");
  (void)message.one("backend");
  read_batch_size(message);
  read_transactions(message);
  triton::apply_parameters(message, root, draft);
  triton::Ensemble parts;
  parts.inputs = read_tensors(message.required_many("input", "input [ { name: \"image\" … } ]"), Role::ensemble_input);
  parts.outputs =
      read_tensors(message.required_many("output", "output [ { name: \"label\" … } ]"), Role::ensemble_output);
  parts.steps = triton::read_steps(message, draft);
  message.ignore(kIgnored);
  message.finish();

  auto flow = triton::connect(parts, source.file, out);
  draft.workflow.stages = std::move(flow.stages);
  draft.outputs = std::move(flow.outputs);
  if (!draft.outputs.empty()) draft.marks["outputs"] = draft.outputs.front().first.mark;
  add_functions(parts.steps, source, draft, out);
  if (out.errors() > errors_before) return std::nullopt;
  ensemble.inputs = ports_of(parts.inputs);
  ensemble.outputs = ports_of(parts.outputs);
  return ensemble;
}

std::vector<std::string> triton_models(const Node& document) {
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  const auto add = [&](const Node& step) {
    const std::string_view model = text_of(step, "model_name");
    if (legal_name(model) && seen.insert(model).second) out.emplace_back(model);
  };
  const Node* scheduling = is_ensemble(document) ? document.find("ensemble_scheduling") : nullptr;
  const Node* steps = scheduling != nullptr ? scheduling->find("step") : nullptr;
  if (steps == nullptr) return out;
  if (steps->kind == Node::Kind::map) add(*steps);
  for (const Node& step : steps->items) add(step);
  return out;
}

std::optional<FunctionDraft> read_triton_model(const Node& document, const TritonSource& source, Diagnostics& out) {
  const std::size_t errors_before = out.errors();
  const Cursor root(document, source.file, "", out);
  if (!root.is(Node::Kind::map)) return std::nullopt;
  if (is_ensemble(document)) {
    root.error(
        "this model is an ensemble; a step of an ensemble cannot be one. Write its steps into the outer ensemble");
    return std::nullopt;
  }
  Message message(root);
  const auto name = read_model_name(message, root, source);
  const auto batch = message.one("max_batch_size");
  const bool batches = batch && batch->integer(0, std::numeric_limits<std::int32_t>::max()).value_or(0) > 0;
  const auto input_fields = message.many("input");
  const auto inputs = read_tensors(input_fields, Role::model);
  const auto outputs = read_tensors(message.many("output"), Role::model);
  if (!name || out.errors() > errors_before) return std::nullopt;
  root.warning(str("the model '", name->text,
                   "' is emulated: Sluice runs no Triton backends. To run it, describe it in functions.yaml"));
  FunctionDraft draft{.function = emulated(name->text), .file = source.file, .mark = name->mark, .listed_here = false};
  // Without batching, `dims` may hold a batch dimension or not: such shapes cannot be compared with those of others.
  if (batches && declarable(input_fields)) draft.function.inputs = ports_of(inputs);
  if (batches) draft.function.outputs = ports_of(outputs);
  return draft;
}

}  // namespace sluice::spec
