// Draft → Application: names become ids, the result is checked, and its order is made canonical.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/doubts.h"
#include "domain/graph.h"
#include "domain/limits.h"
#include "domain/validate.h"
#include "spec/canonical.h"
#include "spec/cursor.h"
#include "spec/draft.h"

namespace sluice::spec {
namespace {

using FunctionIndex = std::map<std::string_view, FunctionId>;

struct Builder {
  const std::string& file;
  const FunctionIndex& functions;
  bool functions_complete;
  Diagnostics& out;

  Workflow workflow(const WorkflowDraft& draft, const std::string& path, std::size_t depth) const;
};

// Resolves the names of one workflow.
class WorkflowBuilder {
 public:
  WorkflowBuilder(const Builder& builder, const WorkflowDraft& draft, std::string path, std::size_t depth)
      : builder_(builder), draft_(draft), path_(std::move(path)), depth_(depth) {
    for (std::size_t i = 0; i < draft.stages.size(); ++i) {
      const auto [it, fresh] = ids_.emplace(draft.stages[i].name.text, StageId(static_cast<StageId::rep>(i)));
      names_.push_back(it->first);
      if (!fresh) error(draft.stages[i].name.mark, draft.stages[i], "", "the stage name appears twice");
    }
  }

  Workflow run() const {
    Workflow workflow;
    workflow.stages.reserve(draft_.stages.size());
    for (const StageDraft& draft : draft_.stages) workflow.stages.push_back(stage(draft));
    return workflow;
  }

  std::optional<Reference> reference(const Name& name, const StageDraft* draft, std::string_view field) const {
    const std::size_t dot = name.text.find('.');
    const std::string_view stage_name = std::string_view(name.text).substr(0, dot);
    const std::string output = dot == std::string::npos ? "" : name.text.substr(dot + 1);
    if (dot != std::string::npos && !legal_name(output, NameRule::port)) {
      error(name.mark, draft, field,
            str("'", printable(name.text), "' is not a reference; write STAGE.OUTPUT or request.INPUT"));
      return std::nullopt;
    }
    if (stage_name == "request") return Reference{StageId::none(), output};
    const auto id = find(stage_name);
    if (!id.valid()) {
      error(name.mark, draft, field, str("there is no stage '", printable(stage_name), "'.", near(stage_name)));
      return std::nullopt;
    }
    return Reference{id, output};
  }

 private:
  void error(Mark mark, const StageDraft* draft, std::string_view field, std::string message) const {
    std::string where = draft == nullptr ? "" : str(path_, ".", draft->name.text);
    if (!field.empty()) where += str(where.empty() ? "" : ".", field);
    builder_.out.error(builder_.file, mark, std::move(where), std::move(message));
  }
  void error(Mark mark, const StageDraft& draft, std::string_view field, std::string message) const {
    error(mark, &draft, field, std::move(message));
  }
  StageId find(std::string_view name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? StageId::none() : it->second;
  }
  std::string near(std::string_view name) const {
    // Looking for the nearest of very many names for very many errors would take minutes.
    constexpr std::size_t kSearchedMax = 2'000;
    if (names_.size() > kSearchedMax) return "";
    return suggestion(name, names_);
  }

  Stage stage(const StageDraft& draft) const {
    Stage stage = draft.stage;
    stage.name = draft.name.text;
    if (stage.kind == Stage::Kind::run) stage.function = function(draft);
    after(draft, stage);
    for (const auto& [input, from] : draft.inputs) {
      if (auto resolved = reference(from, &draft, str("inputs.", input.text)))
        stage.inputs.push_back({input.text, *resolved});
    }
    std::sort(stage.inputs.begin(), stage.inputs.end(), [](const auto& a, const auto& b) { return a.input < b.input; });
    if (draft.when) stage.when = condition(*draft.when, draft);
    if (draft.foreach) stage.foreach = foreach (*draft.foreach, draft);
    for (const auto& [name, handler] : draft.catches) {
      const StageId id = find(handler.text);
      if (id.valid())
        stage.catches.push_back({name, id});
      else
        error(handler.mark, draft, "catch",
              str("there is no stage '", printable(handler.text), "'.", near(handler.text)));
    }
    return stage;
  }

  FunctionId function(const StageDraft& draft) const {
    const auto it = builder_.functions.find(draft.function.text);
    if (it != builder_.functions.end()) return it->second;
    if (!builder_.functions_complete) return FunctionId(0);
    std::vector<std::string_view> known;
    for (const auto& [name, id] : builder_.functions) known.push_back(name);
    error(draft.function.mark, draft, "function",
          str("there is no function '", printable(draft.function.text), "'.", suggestion(draft.function.text, known)));
    return FunctionId(0);
  }

  void after(const StageDraft& draft, Stage& stage) const {
    for (const Name& name : draft.after) {
      const StageId id = find(name.text);
      if (!id.valid()) {
        error(name.mark, draft, "after", str("there is no stage '", printable(name.text), "'.", near(name.text)));
      } else if (std::find(stage.after.begin(), stage.after.end(), id) != stage.after.end()) {
        error(name.mark, draft, "after", str("'", name.text, "' appears twice"));
      } else {
        stage.after.push_back(id);
      }
    }
  }

  std::optional<Condition> condition(const ConditionDraft& from, const StageDraft& draft) const {
    Condition out{.kind = from.kind};
    if (from.kind == Condition::Kind::compare) {
      const auto left = reference(from.left, &draft, "when");
      if (!left) return std::nullopt;
      out.comparison = {*left, from.comparator, from.right};
    }
    for (const ConditionDraft& term : from.terms) {
      auto built = condition(term, draft);
      if (!built) return std::nullopt;
      out.terms.push_back(std::move(*built));
    }
    return out;
  }

  std::optional<Foreach> foreach (const ForeachDraft& from, const StageDraft& draft) const {
    Foreach out{.limit = from.limit};
    const auto over = reference(from.over, &draft, "foreach");
    if (over) out.over = *over;
    if (from.body) {
      if (depth_ >= limits::foreach_depth_max) {
        error(draft.name.mark, draft, "foreach",
              str("workflows are nested deeper than ", limits::foreach_depth_max, " levels"));
      } else {
        out.body.push_back(
            builder_.workflow(*from.body, str(path_, ".", draft.name.text, ".foreach.workflow"), depth_ + 1));
      }
    }
    if (!over) return std::nullopt;
    return out;
  }

  const Builder& builder_;
  const WorkflowDraft& draft_;
  std::string path_;
  std::size_t depth_;
  std::map<std::string, StageId, std::less<>> ids_;
  std::vector<std::string_view> names_;
};

Workflow Builder::workflow(const WorkflowDraft& draft, const std::string& path, std::size_t depth) const {
  return WorkflowBuilder(*this, draft, path, depth).run();
}

// Where a problem found in the finished application was written.
Mark mark_of(const Problem& problem, const ApplicationDraft& draft) {
  const WorkflowDraft* workflow = &draft.workflow;
  const StageDraft* stage = nullptr;
  for (const std::string& name : problem.path) {
    if (workflow == nullptr) break;
    const auto it = std::find_if(workflow->stages.begin(), workflow->stages.end(),
                                 [&](const StageDraft& s) { return s.name.text == name; });
    if (it == workflow->stages.end()) break;
    stage = &*it;
    workflow = stage->foreach && stage->foreach->body ? &*stage->foreach->body : nullptr;
  }
  if (stage == nullptr) {
    const auto it = draft.marks.find(problem.field);
    return it == draft.marks.end() ? Mark{} : it->second;
  }
  const auto it = stage->marks.find(problem.field);
  return it == stage->marks.end() ? stage->name.mark : it->second;
}

std::string field_of(const Problem& problem) {
  if (problem.path.empty()) return problem.field;
  std::string out = "workflow";
  for (std::size_t i = 0; i < problem.path.size(); ++i)
    out += str(i == 0 ? "." : ".foreach.workflow.", problem.path[i]);
  return problem.field.empty() ? out : str(out, ".", problem.field);
}

// The functions by name; a name with two different contents is an error.
FunctionIndex index_functions(ApplicationDraft& draft, std::vector<Function>& functions, Diagnostics& out) {
  std::stable_sort(draft.functions.begin(), draft.functions.end(),
                   [](const FunctionDraft& a, const FunctionDraft& b) { return a.function.name < b.function.name; });
  std::vector<FunctionDraft> unique;
  for (FunctionDraft& function : draft.functions) {
    if (unique.empty() || unique.back().function.name != function.function.name) {
      unique.push_back(std::move(function));
    } else if (!(unique.back().function == function.function)) {
      out.error(function.file, function.mark, str("functions.", function.function.name),
                str("already defined in ", unique.back().file, " with other content"));
    }
  }
  draft.functions = std::move(unique);
  FunctionIndex index;
  for (const FunctionDraft& function : draft.functions) {
    index.emplace(function.function.name, FunctionId(static_cast<FunctionId::rep>(functions.size())));
    functions.push_back(function.function);
  }
  return index;
}

void warn_unused(const ApplicationDraft& draft, const Application& application, Diagnostics& out) {
  std::set<std::string_view> used;
  for (const Function& function : application.functions) used.insert(function.name);
  for (const FunctionDraft& function : draft.functions) {
    if (!function.listed_here || used.contains(function.function.name)) continue;
    out.warning(function.file, function.mark, str("functions.", function.function.name), "no stage runs this function");
  }
}

}  // namespace

std::optional<Application> build(ApplicationDraft draft, Diagnostics& out) {
  Application application = draft.application;
  const FunctionIndex functions = index_functions(draft, application.functions, out);
  if (draft.workflow.stages.size() > limits::stages_max) {
    out.error(draft.file, {}, "workflow",
              str("has ", draft.workflow.stages.size(), " stages, at most ", limits::stages_max, " are allowed"));
    return std::nullopt;
  }
  const Builder builder{draft.file, functions, draft.functions_complete, out};
  const WorkflowBuilder main(builder, draft.workflow, "workflow", 1);
  application.workflow = main.run();
  for (const auto& [name, from] : draft.outputs) {
    if (auto resolved = main.reference(from, nullptr, str("outputs.", name.text)))
      application.outputs.push_back({name.text, *resolved});
  }
  if (out.has_errors()) return std::nullopt;  // more would only follow from what is reported already

  for (const Problem& problem : validate(application)) {
    out.error(draft.file, mark_of(problem, draft), field_of(problem), problem.message);
  }
  if (out.has_errors()) return std::nullopt;
  for (const Problem& doubt : doubts(application)) {
    out.warning(draft.file, mark_of(doubt, draft), field_of(doubt), doubt.message);
  }
  make_canonical(application);
  warn_unused(draft, application, out);
  return application;
}

}  // namespace sluice::spec
