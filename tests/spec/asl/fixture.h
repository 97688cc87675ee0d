// Shared by the tests of the ASL import: imports a document and writes drafts and errors as short texts.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "spec/asl/asl.h"
#include "spec/json_reader.h"

namespace sluice::spec {

struct Imported {
  std::optional<AslDocument> document;
  std::vector<std::string> errors;  // "4:7 States.Detect.Next: …"
};

inline Imported import(const std::string& text) {
  Imported result;
  Diagnostics out;
  if (const auto tree = read_json(text, "a.json", out)) result.document = read_asl(*tree, "a.json", "a", out);
  for (const Diagnostic& d : out.sorted()) {
    EXPECT_EQ(d.file, "a.json");
    EXPECT_GT(d.mark.line, 0) << d.message;
    result.errors.push_back(str(d.mark.line, ":", d.mark.column, " ", d.field, ": ", d.message));
  }
  EXPECT_EQ(result.document.has_value(), result.errors.empty());
  return result;
}

// A document around `states`: {"Detect": {…}, …}.
inline std::string machine(const std::string& start, const std::string& states) {
  return str(R"({"SLO": {"DeadlineMs": 200}, "StartAt": ")", start, R"(", "States": {)", states, "}}");
}

inline std::string text_of(const Literal& literal) {
  if (const auto* flag = std::get_if<bool>(&literal)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&literal)) return str(*number);
  return str("'", std::get<std::string>(literal), "'");
}

inline std::string text_of(const ConditionDraft& condition) {
  std::string terms;
  for (const ConditionDraft& term : condition.terms) terms += str(terms.empty() ? "" : ", ", text_of(term));
  switch (condition.kind) {
    case Condition::Kind::otherwise:
      return "otherwise";
    case Condition::Kind::all:
      return str("all(", terms, ")");
    case Condition::Kind::any:
      return str("any(", terms, ")");
    case Condition::Kind::negate:
      return str("not(", terms, ")");
    case Condition::Kind::compare:
      break;
  }
  return str(condition.left.text, " ", symbol_of(condition.comparator), " ", text_of(condition.right));
}

inline std::string text_of(const WorkflowDraft& workflow);

inline std::string text_of(const Retry& retry) {
  std::string out = str(retry.attempts, "x ", to_string(retry.interval), " *", retry.backoff);
  if (retry.max_delay) out += str(" to ", to_string(*retry.max_delay));
  for (const std::string& error : retry.on) out += str(" ", error);
  return out;
}

// One line: "Detect: run detect; after A, B; when A.score < 1; inputs x=A.y; …".
inline std::string text_of(const StageDraft& stage) {
  std::string out = stage.name.text + ": ";
  const auto list = [&](std::string_view field, const auto& items, const auto& text) {
    if (items.empty()) return;
    out += str("; ", field);
    for (std::size_t i = 0; i < items.size(); ++i) out += str(i == 0 ? " " : ", ", text(items[i]));
  };
  if (stage.stage.kind == Stage::Kind::run)
    out += "run " + stage.function.text;
  else if (stage.stage.kind == Stage::Kind::pass)
    out += "pass";
  else
    out += str("fail ", stage.stage.failure.error, "/", stage.stage.failure.cause);
  list("after", stage.after, [](const Name& name) { return name.text; });
  if (stage.when) out += "; when " + text_of(*stage.when);
  list("inputs", stage.inputs, [](const auto& pair) { return str(pair.first.text, "=", pair.second.text); });
  if (stage.stage.wait > Duration{}) out += "; wait " + to_string(stage.stage.wait);
  if (stage.stage.retry) out += "; retry " + text_of(*stage.stage.retry);
  list("catch", stage.catches, [](const auto& pair) { return str(pair.first, "=", pair.second.text); });
  if (stage.foreach) {
    out += str("; foreach ", stage.foreach->over.text, " limit ", stage.foreach->limit);
    if (stage.foreach->body) out += str(" {", text_of(*stage.foreach->body), "}");
  }
  return out;
}

inline std::string text_of(const WorkflowDraft& workflow) {
  std::string out;
  for (const StageDraft& stage : workflow.stages) out += str(out.empty() ? "" : "\n", text_of(stage));
  return out;
}

// The stages of the imported document, a line each; the errors if it has any.
inline std::string stages(const std::string& text) {
  const Imported imported = import(text);
  std::string out;
  for (const std::string& error : imported.errors) out += error + "\n";
  return imported.document ? text_of(imported.document->draft.workflow) : out;
}

}  // namespace sluice::spec
