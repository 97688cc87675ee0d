#include "spec/triton/parameters.h"

#include <array>
#include <map>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::triton {
namespace {

std::optional<Cursor> read_value(const Cursor& cursor) {
  Message message(cursor);
  auto text = message.required("string_value", "string_value: \"200\"");
  message.finish();
  return text;
}

// The `parameters` by key; without a value where it is broken, which is reported.
std::map<std::string, std::optional<Cursor>> read_parameters(Message& message) {
  std::map<std::string, std::optional<Cursor>> out;
  for (const Cursor& cursor : message.many("parameters")) {
    Message entry(cursor);
    const auto key_field = entry.required("key", "key: \"slo_ms\"");
    const auto value_field = entry.required("value", "value { string_value: \"200\" }");
    entry.finish();
    const auto key = key_field ? key_field->text() : std::nullopt;
    const auto value = value_field ? read_value(*value_field) : std::nullopt;
    if (!key || out.emplace(*key, value).second) continue;
    key_field->error(str("the parameter '", printable(*key), "' is given twice"));
  }
  return out;
}

void read_latency(const Cursor& value, ApplicationDraft& draft) {
  const auto text = value.text();
  if (!text) return;
  const auto ns = parse_scaled(*text, 1'000'000);
  if (!ns || *ns <= 0 || Duration::ns(*ns) > limits::duration_max) {
    return value.error(
        str("'", printable(*text),
            "' is not a latency: write a positive number of milliseconds without a unit, such as \"200\""));
  }
  draft.application.objective.latency = Duration::ns(*ns);
  draft.marks["slo.latency"] = value.mark();
}

void read_percentile(const Cursor& value, ApplicationDraft& draft) {
  const auto text = value.text();
  if (!text) return;
  const auto percentile = parse_double(*text);
  if (!percentile || *percentile <= 0 || *percentile >= 100) {
    return value.error(
        str("'", printable(*text), "' is not a percentile: write a number between 0 and 100, such as \"95\""));
  }
  draft.application.objective.percentile = *percentile;
  draft.marks["slo.percentile"] = value.mark();
}

void read_prefer(const Cursor& value, ApplicationDraft& draft) {
  if (const auto choice = value.choice(kPreferNames)) draft.application.objective.prefer = static_cast<Prefer>(*choice);
}

void read_tenant(const Cursor& value, ApplicationDraft& draft) {
  const auto tenant = value.name();
  if (!tenant) return;
  draft.application.tenant = *tenant;
  draft.marks["tenant"] = value.mark();
}

}  // namespace

void apply_parameters(Message& message, const Cursor& root, ApplicationDraft& draft) {
  constexpr std::array<std::string_view, 4> kNames = {"slo_ms", "slo_percentile", "slo_prefer", "tenant"};
  const auto parameters = read_parameters(message);
  if (!parameters.contains("slo_ms")) {
    root.error(
        "the latency objective is missing; write parameters { key: \"slo_ms\" value { string_value: \"200\" } } "
        "with the milliseconds a whole call may take");
  }
  for (const auto& [key, value] : parameters) {
    if (!value) continue;
    if (key == "slo_ms") {
      read_latency(*value, draft);
    } else if (key == "slo_percentile") {
      read_percentile(*value, draft);
    } else if (key == "slo_prefer") {
      read_prefer(*value, draft);
    } else if (key == "tenant") {
      read_tenant(*value, draft);
    } else {
      value->warning(str("ignored: Sluice knows no parameter '", printable(key), "'.", suggestion(key, kNames)));
    }
  }
}

}  // namespace sluice::spec::triton
