// What a document says, computed once for the text and the JSON output of `sluice check`.
#pragma once
#include <string>
#include <vector>

#include "domain/application.h"

namespace sluice::cli {

struct StageSummary {
  std::string name;
  std::string runs;  // a function, "pass", "fail NoObject" or "workflow of 3 stages"
  std::vector<std::string> after;
  std::string join;                // "all", "any" or "2"; empty with fewer than two predecessors
  std::string when;                // empty: always
  std::string foreach;             // empty: once
  std::vector<std::string> reads;  // "image ← detect.image"
  std::string dominator;           // the last stage every path to it passes; empty: none
};

struct WorkflowSummary {
  std::vector<StageSummary> stages;  // in topological order
  std::vector<std::string> entries, exits;
  double paths = 0;           // from an entry to an exit
  std::size_t longest = 0;    // stages on the longest path
  std::string shape;          // "a → (b ‖ c) → d"
  std::size_t irregular = 0;  // regions that are not series-parallel
};

[[nodiscard]] WorkflowSummary summarize(const Application& application);
// "420 ms at percentile 95, at most $0.001 a request"; without a percentile "420 ms for as many as possible"
[[nodiscard]] std::string describe(const Objective& objective);

}  // namespace sluice::cli
