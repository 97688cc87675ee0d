// Everything that can be wrong with an application once its names are resolved. The same for every document format;
// spec/ adds file and line.
#pragma once
#include <string>
#include <vector>

#include "domain/application.h"

namespace sluice {

// `path` leads through nested foreach workflows to the stage ("each", "detect"); empty: the application itself.
// `field` is the field of the document that is to blame ("after", "when", "join").
struct Problem {
  std::vector<std::string> path;
  std::string field;
  std::string message;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// All problems, in document order; empty if the application can be deployed.
[[nodiscard]] std::vector<Problem> validate(const Application& application);

}  // namespace sluice
