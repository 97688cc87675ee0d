#include "spec/triton/steps.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::triton {
namespace {

constexpr std::array<Message::Ignored, 1> kIgnoredInScheduling = {
    {{"max_inflight_responses", "every step answers once"}}};
constexpr std::array<Message::Ignored, 1> kIgnoredInSteps = {{{"model_namespace", "a function's name is enough"}}};

Step read_step(const Cursor& cursor) {
  Message message(cursor);
  Step step{.mark = cursor.mark(), .path = cursor.path()};
  if (const auto field = message.required("model_name", "model_name: \"resize\"")) {
    if (auto name = field->name()) step.model = {std::move(*name), field->mark()};
  }
  if (const auto field = message.one("model_version")) {
    const auto version = field->integer(-1, std::numeric_limits<std::int64_t>::max());
    if (version && *version != -1)
      field->warning("ignored: a function has one version, that of its content; -1 says the same");
  }
  step.inputs =
      read_name_map(message.required_many("input_map", "input_map { key: \"model_input\" value: \"tensor\" }"));
  step.outputs =
      read_name_map(message.required_many("output_map", "output_map { key: \"model_output\" value: \"tensor\" }"));
  message.ignore(kIgnoredInSteps);
  message.finish();
  return step;
}

}  // namespace

std::vector<Step> read_steps(Message& message, ApplicationDraft& draft) {
  std::vector<Step> steps;
  const auto field = message.required("ensemble_scheduling", "ensemble_scheduling { step [ … ] }");
  if (!field) return steps;
  draft.marks["workflow"] = field->mark();
  Message scheduling(*field);
  const auto cursors = scheduling.required_many("step", "step [ { model_name: \"resize\" … } ]");
  if (cursors.size() > limits::stages_max) {
    field->error(str("has ", cursors.size(), " steps, at most ", limits::stages_max, " are possible"));
  } else {
    for (const Cursor& cursor : cursors) steps.push_back(read_step(cursor));
  }
  scheduling.ignore(kIgnoredInScheduling);
  scheduling.finish();
  return steps;
}

}  // namespace sluice::spec::triton
