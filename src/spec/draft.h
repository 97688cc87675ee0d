// Drafts: a workflow as a document writes it, with names instead of ids and with positions. Every format (YAML, ASL,
// Triton) reads into a draft; build() resolves the names, checks the result and makes the Application.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/application.h"
#include "spec/diagnostics.h"

namespace sluice::spec {

struct Name {
  std::string text;
  Mark mark;
};

struct ConditionDraft {
  Condition::Kind kind = Condition::Kind::compare;
  Name left;  // compare: "detect.score" or "request.kind"
  Comparator comparator = Comparator::equal;
  Literal right;
  std::vector<ConditionDraft> terms;
};

struct StageDraft;
struct WorkflowDraft {
  std::vector<StageDraft> stages;
};

struct ForeachDraft {
  Name over;
  std::uint32_t limit = 0;
  std::optional<WorkflowDraft> body;
};

// `stage` holds what needs no other name; the rest is resolved by build().
struct StageDraft {
  Name name;
  Stage stage;
  Name function;  // of a `run` stage
  std::vector<Name> after;
  std::vector<std::pair<Name, Name>> inputs;  // input, reference
  std::optional<ConditionDraft> when;
  std::optional<ForeachDraft> foreach;
  std::vector<std::pair<std::string, Name>> catches;  // error, stage
  std::map<std::string, Mark> marks;                  // field → where it is written
};

// A function with the place where it is written; `listed_here` is false for those of an included file, which an
// application may leave unused.
struct FunctionDraft {
  Function function;
  std::string sample = {};  // JSON: inputs to try and measure it with; empty: none
  std::string file;
  Mark mark;
  bool listed_here = true;
};

struct ApplicationDraft {
  std::string file;
  Application application;  // without functions, workflow and outputs
  std::vector<FunctionDraft> functions;
  bool functions_complete = true;  // false: some could not be read, so an unknown name is no error of its own
  WorkflowDraft workflow;
  std::vector<std::pair<Name, Name>> outputs;  // name, reference
  std::map<std::string, Mark> marks;
};

// The application, or nothing with every reason in `out`. Stages come in topological order, equals by name, and only
// functions that are used are kept, sorted by name: documents that say the same give equal applications.
[[nodiscard]] std::optional<Application> build(ApplicationDraft draft, Diagnostics& out);

}  // namespace sluice::spec
