#include "spec/asl/states.h"

#include <array>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/asl/choice.h"
#include "spec/asl/errors.h"
#include "spec/asl/reader.h"

namespace sluice::spec::asl {
namespace {

constexpr std::string_view kSloWhy = "the deadline is the SLO of the whole call";
constexpr std::string_view kSelectorWhy = "a function's outputs are taken by name; refer to those you need";
constexpr std::string_view kBatchWhy = "a Map runs over a list of the request or of an earlier state (ItemsPath)";
constexpr std::string_view kToleranceWhy = "an item that fails fails the Map; catch errors inside it";
constexpr std::string_view kConstantTimeWhy = "write Seconds";

constexpr std::array kRefusedTask = {
    Refused{"TimeoutSeconds", kSloWhy},      Refused{"TimeoutSecondsPath", kSloWhy},
    Refused{"HeartbeatSeconds", kSloWhy},    Refused{"HeartbeatSecondsPath", kSloWhy},
    Refused{"ResultSelector", kSelectorWhy}, Refused{"Credentials", "functions run as the tenant of the application"}};
constexpr std::array kRefusedPass = {Refused{"Result", "constants are not data here; give them to the function"}};
constexpr std::array kRefusedWait = {Refused{"SecondsPath", kConstantTimeWhy}, Refused{"Timestamp", kConstantTimeWhy},
                                     Refused{"TimestampPath", kConstantTimeWhy}};
constexpr std::array kRefusedFail = {Refused{"ErrorPath", "write Error"}, Refused{"CausePath", "write Cause"}};
constexpr std::string_view kInnerRetryWhy = "put it into the tasks inside";
constexpr std::array kRefusedParallel = {Refused{"Retry", kInnerRetryWhy}, Refused{"ResultSelector", kSelectorWhy}};
constexpr std::array kRefusedMap = {Refused{"Retry", kInnerRetryWhy},
                                    Refused{"ResultSelector", kSelectorWhy},
                                    Refused{"ItemSelector", "the item itself is the input of the states inside"},
                                    Refused{"Parameters", "the item itself is the input of the states inside"},
                                    Refused{"ItemReader", kBatchWhy},
                                    Refused{"ItemBatcher", kBatchWhy},
                                    Refused{"ResultWriter", kBatchWhy},
                                    Refused{"Label", kBatchWhy},
                                    Refused{"MaxConcurrencyPath", "write MaxConcurrency"},
                                    Refused{"ToleratedFailureCount", kToleranceWhy},
                                    Refused{"ToleratedFailureCountPath", kToleranceWhy},
                                    Refused{"ToleratedFailurePercentage", kToleranceWhy},
                                    Refused{"ToleratedFailurePercentagePath", kToleranceWhy}};

// "fn:NAME" or the ARN of a function, whose last component is the name.
void read_resource(Fields& fields, State& state) {
  constexpr std::string_view kPrefix = "fn:", kArn = "arn:", kFunction = ":function:";
  const auto field = fields.required("Resource", R"("Resource": "fn:NAME")");
  const auto text = field ? quoted(*field) : std::nullopt;
  if (!text) return;
  std::string_view name;
  const std::string_view uri = *text;
  const std::size_t function = uri.starts_with(kArn) ? uri.find(kFunction) : std::string_view::npos;
  if (uri.starts_with(kPrefix))
    name = uri.substr(kPrefix.size());
  else if (function != std::string_view::npos)
    name = uri.substr(function + kFunction.size());
  if (name.empty()) {
    field->error(str("'", printable(uri), "' is not supported; a Resource is a function: write \"fn:NAME\""));
  } else if (!legal_name(name)) {
    field->error(str("'", printable(name), "' is not the name of a function (versions and aliases are not supported)"));
  }
  state.draft.function = {std::string(name), field->mark()};
  state.draft.marks["function"] = field->mark();
}

void read_task(const Part& part, State& state) {
  state.draft.stage.kind = Stage::Kind::run;
  read_resource(part.fields, state);
  read_parameters(part.fields, state);
  read_result_path(part.fields, state);
  read_retry(part.fields, state);
  read_catch(part.fields, state);
  refuse(part, kRefusedTask);
}

void read_pass(const Part& part, State& state) {
  read_parameters(part.fields, state);
  read_result_path(part.fields, state);
  if (state.result.kind == ResultPath::Kind::key && state.draft.inputs.empty()) {
    part.cursor.error_at(state.result.mark, "'ResultPath' of a Pass without Parameters is not supported");
  }
  refuse(part, kRefusedPass);
}

void read_wait(const Part& part, State& state) {
  const std::size_t errors = part.cursor.diagnostics().errors();
  refuse(part, kRefusedWait);
  const auto field = part.fields.optional("Seconds");
  if (field) {
    if (const auto value = seconds(*field, 0)) state.draft.stage.wait = Duration::s(static_cast<double>(*value));
  } else if (part.cursor.diagnostics().errors() == errors) {
    part.cursor.error(R"(the field 'Seconds' is missing; write "Seconds": 1)");
  }
}

void read_fail(const Part& part, State& state) {
  state.draft.stage.kind = Stage::Kind::fail;
  if (const auto field = part.fields.optional("Error")) state.draft.stage.failure.error = quoted(*field).value_or("");
  if (const auto field = part.fields.optional("Cause")) state.draft.stage.failure.cause = quoted(*field).value_or("");
  refuse(part, kRefusedFail);
}

void read_parallel(const Part& part, State& state, Import& import) {
  read_parameters(part.fields, state);
  read_result_path(part.fields, state);
  read_catch(part.fields, state);
  refuse(part, kRefusedParallel);
  const auto branches = part.fields.required("Branches", R"("Branches": [{"StartAt": …, "States": {…}}, …])");
  if (!branches) return;
  if (branches->node().kind == Node::Kind::sequence && branches->node().items.empty()) branches->error("is empty");
  for (const Cursor& branch : branches->items()) {
    Fields fields(branch);
    if (!fields.valid()) continue;
    (void)fields.optional("Comment");
    state.machines.push_back(read_machine({branch, fields}, import));
    fields.finish();
  }
}

void read_processor_mode(Fields& fields) {
  const auto field = fields.optional("ProcessorConfig");
  if (!field) return;
  Fields inner(*field);
  const auto mode = inner.optional("Mode");
  const auto text = mode ? quoted(*mode) : std::nullopt;
  if (text && *text != "INLINE") mode->error(str("'", printable(*text), "' is not supported; write \"INLINE\""));
  if (const auto type = inner.optional("ExecutionType")) type->error("'ExecutionType' is not supported");
  inner.finish();
}

// The states of a Map: "ItemProcessor", or "Iterator" as it was called before.
void read_body(const Part& part, State& state, Import& import) {
  const auto iterator = part.fields.optional("Iterator");
  const auto processor =
      iterator ? part.fields.optional("ItemProcessor")
               : part.fields.required("ItemProcessor", R"("ItemProcessor": {"StartAt": …, "States": {…}})");
  if (iterator && processor) iterator->error("'Iterator' is the old name of 'ItemProcessor'; write only one of them");
  if (!iterator && !processor) return;
  const Cursor& body = processor ? *processor : *iterator;
  Fields fields(body);
  if (!fields.valid()) return;
  (void)fields.optional("Comment");
  read_processor_mode(fields);
  state.machines.push_back(read_machine({body, fields}, import));
  fields.finish();
}

void read_map(const Part& part, State& state, Import& import) {
  ForeachDraft foreach{.over = {"$", part.cursor.mark()}};
  if (const auto field = part.fields.optional("ItemsPath"))
    foreach
      .over = path(*field);
  if (const auto field = part.fields.optional("MaxConcurrency")) {
    if (const auto value = field->integer(0, limits::foreach_items_max))
      foreach
        .limit = static_cast<std::uint32_t>(*value);
  }
  state.draft.marks["foreach"] = foreach.over.mark;
  state.draft.foreach = std::move(foreach);
  read_result_path(part.fields, state);
  read_catch(part.fields, state);
  refuse(part, kRefusedMap);
  read_body(part, state, import);
}

}  // namespace

void read_by_type(const Part& part, State& state, Import& import) {
  if (state.type != StateType::fail) whole_document_only(part.fields);
  switch (state.type) {
    case StateType::task:
      read_task(part, state);
      break;
    case StateType::pass:
      read_pass(part, state);
      break;
    case StateType::wait:
      read_wait(part, state);
      break;
    case StateType::succeed:
      break;
    case StateType::fail:
      read_fail(part, state);
      break;
    case StateType::choice:
      read_choices(part, state);
      break;
    case StateType::parallel:
      read_parallel(part, state, import);
      break;
    case StateType::map:
      read_map(part, state, import);
      break;
  }
}

}  // namespace sluice::spec::asl
