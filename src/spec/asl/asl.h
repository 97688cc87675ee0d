// Amazon States Language documents to drafts. What is supported, how each field maps and what is refused: docs/asl.md.
// The import reads fields (states.h), checks the ways (check.h), follows the data (flow.h) and makes stages
// (stages.h); it keeps going after an error so that a user sees all of them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "spec/draft.h"

namespace sluice::spec {

struct AslDocument {
  ApplicationDraft draft;            // without functions
  std::vector<Name> function_files;  // "Functions": where the functions are written, as the document names them
};

// Nothing, with every reason in `out`, if there is an error. The application has `application_name` unless the document
// has the field "Application". Errors of `file` name fields like "States.Detect.Retry[0].MaxAttempts".
[[nodiscard]] std::optional<AslDocument> read_asl(const Node& document, const std::string& file,
                                                  std::string application_name, Diagnostics& out);

}  // namespace sluice::spec
