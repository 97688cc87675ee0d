#include "spec/asl/asl.h"

#include <array>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/asl/check.h"
#include "spec/asl/flow.h"
#include "spec/asl/reader.h"
#include "spec/asl/stages.h"

namespace sluice::spec {
namespace {

using namespace asl;

constexpr std::string_view kSloExample = R"("SLO": {"DeadlineMs": 200, "Percentile": 95})";
constexpr std::array kRefusedTop = {
    Refused{"TimeoutSeconds", "the deadline is the SLO of the whole call (\"SLO\": {\"DeadlineMs\": 200})"}};

// The whole-call objective: an extension, since ASL has only timeouts in whole seconds.
void read_slo(Fields& fields, ApplicationDraft& draft) {
  const auto slo = fields.required("SLO", kSloExample);
  if (!slo) return;
  draft.marks["slo"] = slo->mark();
  Fields inner(*slo);
  if (!inner.valid()) return;
  Objective& objective = draft.application.objective;
  const auto number = [&](const std::optional<Cursor>& field, double high, const char* name) -> std::optional<double> {
    if (!field) return std::nullopt;
    draft.marks[name] = field->mark();
    return field->number({0, high});  // that the bounds themselves are excluded is checked by validate()
  };
  const auto deadline =
      number(inner.required("DeadlineMs", "\"DeadlineMs\": 200"), limits::duration_max.to_ms(), "slo.latency");
  if (deadline) objective.latency = Duration::ms(*deadline);
  objective.percentile = number(inner.optional("Percentile"), 100, "slo.percentile");
  objective.cost = number(inner.optional("CostDollars"), 1e6, "slo.cost");
  if (const auto field = inner.optional("Prefer")) {
    if (const auto choice = field->choice(kPreferNames)) objective.prefer = static_cast<Prefer>(*choice);
  }
  inner.finish();
}

void read_names(Fields& fields, const Cursor& cursor, ApplicationDraft& draft) {
  std::string& name = draft.application.name;
  if (const auto field = fields.optional("Application")) {
    draft.marks["application"] = field->mark();
    name = field->name().value_or("");
  } else if (!legal_name(name)) {
    cursor.error(str("the file name gives no legal name ('", printable(name), "'); write \"Application\": \"NAME\""));
  }
  if (const auto field = fields.optional("Tenant")) {
    draft.marks["tenant"] = field->mark();
    if (auto tenant = field->name()) draft.application.tenant = std::move(*tenant);
  }
}

void read_functions(Fields& fields, AslDocument& out) {
  const auto field = fields.optional("Functions");
  if (!field) return;
  out.draft.marks["functions"] = field->mark();
  for (const Cursor& item : field->items(true)) {
    if (auto file = item.text()) out.function_files.push_back({std::move(*file), item.mark()});
  }
}

void read_outputs(Fields& fields, ApplicationDraft& draft) {
  const auto field = fields.optional("Outputs");
  if (!field) return;
  draft.marks["outputs"] = field->mark();
  for (const NamedCursor& entry : named_entries(*field)) {
    if (auto from = entry.value.text())
      draft.outputs.push_back({{entry.name, entry.mark}, {std::move(*from), entry.value.mark()}});
  }
}

void read_language(Fields& fields) {
  if (const auto field = fields.optional("Version"); field && field->node().text != "1.0") {
    field->error("only \"1.0\" is supported");
  }
  if (const auto field = fields.optional("QueryLanguage"); field && field->node().text != "JSONPath") {
    field->error("only \"JSONPath\" is supported");
  }
}

}  // namespace

std::optional<AslDocument> read_asl(const Node& document, const std::string& file, std::string application_name,
                                    Diagnostics& out) {
  const std::size_t errors_before = out.errors();
  AslDocument result;
  ApplicationDraft& draft = result.draft;
  draft.file = file;
  draft.application.name = std::move(application_name);
  const Cursor cursor(document, file, "", out);
  Fields fields(cursor);
  if (!fields.valid()) return std::nullopt;
  Import import{.file = file, .out = out};
  (void)fields.optional("Comment");
  read_language(fields);
  read_names(fields, cursor, draft);
  read_slo(fields, draft);
  read_functions(fields, result);
  read_outputs(fields, draft);
  const Part part{cursor, fields};
  refuse(part, kRefusedTop);
  Machine machine = read_machine(part, import);
  fields.finish();
  if (const Node* states = document.find("States")) draft.marks["workflow"] = states->mark;
  if (!check(machine, import)) return std::nullopt;
  follow_data(machine, import);
  draft.workflow = make_stages(machine, import);
  if (out.errors() > errors_before) return std::nullopt;
  return result;
}

}  // namespace sluice::spec
