// An application document of our YAML.
#include "base/text.h"
#include "domain/limits.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

Objective read_objective(const Cursor& cursor, ApplicationDraft& draft) {
  Objective out;
  draft.marks["slo.latency"] = draft.marks["slo.percentile"] = draft.marks["slo.cost"] = cursor.mark();
  if (cursor.node().kind == Node::Kind::scalar) {  // slo: 420ms
    out.latency = cursor.duration().value_or(Duration::ms(1));
    return out;
  }
  Fields fields(cursor);
  if (auto field = fields.required("latency", "latency: 420ms")) {
    out.latency = field->duration().value_or(Duration::ms(1));
    draft.marks["slo.latency"] = field->mark();
  }
  if (auto field = fields.optional("percentile")) {
    out.percentile = field->number({-1e308, 1e308});
    draft.marks["slo.percentile"] = field->mark();
  }
  if (auto field = fields.optional("cost")) {
    out.cost = field->number({-1e308, 1e308});
    draft.marks["slo.cost"] = field->mark();
  }
  if (auto field = fields.optional("prefer")) {
    if (auto choice = field->choice(kPreferNames)) out.prefer = static_cast<Prefer>(*choice);
  }
  fields.finish();
  return out;
}

std::vector<FunctionDraft> functions_of(const Cursor& cursor, Includes& includes) {
  if (cursor.node().kind == Node::Kind::map) return read_functions(cursor, cursor.file(), includes);
  std::vector<FunctionDraft> out;
  for (const Cursor& item : cursor.items(true)) {
    const auto name = item.text();
    if (!name) continue;
    auto listed = read_function_file(beside(cursor.file(), *name), cursor.file(), item.mark(), item.path(), includes);
    out.insert(out.end(), std::make_move_iterator(listed.begin()), std::make_move_iterator(listed.end()));
  }
  return out;
}

}  // namespace

std::optional<Prices> read_prices(const Cursor& prices) {
  Prices out;
  Fields fields(prices);
  if (!fields.valid()) return std::nullopt;
  constexpr Range kPrice{0, 1e6};
  if (auto field = fields.optional("vcpu_hour")) out.vcpu_hour = field->number(kPrice).value_or(0);
  if (auto field = fields.optional("vgpu_hour")) out.vgpu_hour = field->number(kPrice).value_or(0);
  fields.finish();
  return out;
}

std::optional<ApplicationDraft> read_application(const Cursor& document, Includes& includes) {
  ApplicationDraft draft{.file = document.file()};
  Fields fields(document);
  if (!fields.valid()) return std::nullopt;
  if (auto field = fields.required("application", "application: NAME"))
    draft.application.name = field->name().value_or("");
  if (auto field = fields.optional("tenant")) draft.application.tenant = field->name().value_or("");
  if (auto field = fields.required("slo", "slo: {latency: 420ms}"))
    draft.application.objective = read_objective(*field, draft);
  if (auto field = fields.optional("prices")) draft.application.prices = read_prices(*field).value_or(Prices{});
  if (auto field = fields.required("functions",
                                   "functions: {NAME: {runtime: torch, model: FILE}} or functions: [functions.yaml]")) {
    const std::size_t errors = includes.diagnostics().errors();
    draft.functions = functions_of(*field, includes);
    draft.functions_complete = includes.diagnostics().errors() == errors;
  } else {
    draft.functions_complete = false;
  }
  if (auto field = fields.required("workflow", "workflow: {STAGE: {}, NEXT: {after: STAGE}}")) {
    draft.marks["workflow"] = field->mark();
    draft.workflow = read_workflow(*field);
  }
  if (auto field = fields.optional("outputs")) {
    draft.marks["outputs"] = field->mark();
    for (const NamedCursor& entry : named_entries(*field, NameRule::port)) {
      if (auto text = entry.value.text())
        draft.outputs.push_back({{entry.name, entry.mark}, {*text, entry.value.mark()}});
    }
  }
  fields.finish();
  return draft;
}

}  // namespace sluice::spec
