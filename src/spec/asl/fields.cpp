#include "spec/asl/fields.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/asl/paths.h"

namespace sluice::spec::asl {
namespace {

// The errors that ASL itself names; the prefix "States." is reserved for them.
constexpr std::array<std::string_view, 16> kStatesErrors = {kAllErrors,
                                                            "States.Timeout",
                                                            "States.HeartbeatTimeout",
                                                            "States.TaskFailed",
                                                            "States.Permissions",
                                                            "States.ResultPathMatchFailure",
                                                            "States.ParameterPathFailure",
                                                            "States.QueryEvaluationError",
                                                            "States.BranchFailed",
                                                            "States.NoChoiceMatched",
                                                            "States.IntrinsicFailure",
                                                            "States.ExceedToleratedFailureThreshold",
                                                            "States.ItemReaderFailed",
                                                            "States.ResultWriterFailed",
                                                            "States.DataLimitExceeded",
                                                            "States.Runtime"};

constexpr std::string_view kReferenceSuffix = ".$";

bool legal_error(const Cursor& cursor, const std::string& error) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (error.empty() || error.size() > limits::name_length_max || std::any_of(error.begin(), error.end(), control)) {
    cursor.error(
        str("'", printable(error), "' is not the name of an error: 1 to ", limits::name_length_max, " characters"));
    return false;
  }
  if (error == "all") {
    cursor.error("'all' stands for every error in Sluice, so it cannot be the name of one; write \"States.ALL\"");
    return false;
  }
  const bool known = std::find(kStatesErrors.begin(), kStatesErrors.end(), error) != kStatesErrors.end();
  if (known || !error.starts_with("States.")) return true;
  cursor.error(str("'", printable(error), "' is not an error of ASL.", suggestion(error, kStatesErrors)));
  return false;
}

}  // namespace

void refuse(const Part& part, std::span<const Refused> list) {
  for (const Refused& refused : list) {
    if (part.cursor.node().find(refused.field) == nullptr) continue;  // not asked for, so that no hint proposes it
    if (const auto field = part.fields.optional(refused.field)) {
      field->error(str("'", refused.field, "' is not supported; ", refused.why));
    }
  }
}

std::optional<std::string> quoted(const Cursor& cursor) {
  if (!cursor.is(Node::Kind::scalar)) return std::nullopt;
  if (cursor.node().quoted) return cursor.node().text;
  cursor.error(str("expected text in quotes, got ", printable(cursor.node().text)));
  return std::nullopt;
}

Name path(const Cursor& cursor) {
  auto text = quoted(cursor);
  if (text && text->empty()) cursor.error("is empty; write a path such as \"$.FIELD\"");
  return {std::move(text).value_or(""), cursor.mark()};
}

std::optional<Target> target(Fields& fields, std::string_view name) {
  const auto field = fields.optional(name);
  if (!field) return std::nullopt;
  auto text = quoted(*field);
  if (text && text->empty()) field->error("is empty; write the name of a state");
  return Target{.name = {std::move(text).value_or(""), field->mark()}};
}

std::optional<std::int64_t> seconds(const Cursor& cursor, std::int64_t low) {
  constexpr auto kSecondsMax = static_cast<std::int64_t>(limits::duration_max.to_s());
  return cursor.integer(low, kSecondsMax);
}

void whole_document_only(Fields& fields) {
  for (const std::string_view name : {"InputPath", "OutputPath"}) {
    const auto field = fields.optional(name);
    if (!field || (field->node().kind == Node::Kind::scalar && field->node().text == "$")) continue;
    field->error(str("'", name, "' other than \"$\" is not supported; name what a state reads in Parameters"));
  }
}

void read_parameters(Fields& fields, State& state) {
  const auto parameters = fields.optional("Parameters");
  if (!parameters || !Fields(*parameters).valid()) return;  // Fields: reports duplicates
  state.draft.marks["inputs"] = parameters->mark();
  for (const Entry& entry : parameters->node().entries) {
    const Cursor field = parameters->child(entry.value, printable(entry.key));
    const std::string_view key = entry.key;
    if (!key.ends_with(kReferenceSuffix)) {
      field.error_at(entry.mark,
                     R"(constants in Parameters are not supported; write a reference: "NAME.$": "$.FIELD")");
      continue;
    }
    const std::string name(key.substr(0, key.size() - kReferenceSuffix.size()));
    if (!legal_name(name))
      field.error_at(entry.mark, str("'", printable(name), "' is not the name of an input"));
    else
      state.draft.inputs.push_back({{name, entry.mark}, path(field)});
  }
  if (state.draft.inputs.size() > limits::stage_inputs_max) {
    parameters->error(
        str("has ", state.draft.inputs.size(), " inputs, at most ", limits::stage_inputs_max, " are allowed"));
  }
}

void read_result_path(Fields& fields, State& state) {
  const auto field = fields.optional("ResultPath");
  if (!field) return;
  state.result.mark = field->mark();
  if (field->node().kind == Node::Kind::null) {
    state.result.kind = ResultPath::Kind::discard;
    return;
  }
  const auto text = quoted(*field);
  if (!text || *text == "$") return;
  const auto steps = parse_path(*text);
  if (steps.ok() && steps->size() == 1 && steps->front().kind == PathStep::Kind::key) {
    state.result.kind = ResultPath::Kind::key;
    state.result.key = steps->front().key;
    return;
  }
  field->error(str("'", printable(*text), R"(' is not supported; ResultPath may be "$", "$.NAME" or null)"));
}

std::vector<Name> error_names(Fields& fields) {
  std::vector<Name> names;
  const auto field = fields.required("ErrorEquals", R"("ErrorEquals": ["States.ALL"])");
  if (!field || !field->is(Node::Kind::sequence)) return names;
  if (field->node().items.empty()) field->error("is empty; name the errors, or \"States.ALL\"");
  for (const Cursor& item : field->items()) {
    auto text = quoted(item);
    if (!text || !legal_error(item, *text)) continue;
    if (*text == kAllErrors && field->node().items.size() > 1) item.error("'States.ALL' must stand alone");
    names.push_back({std::move(*text), item.mark()});
  }
  return names;
}

}  // namespace sluice::spec::asl
