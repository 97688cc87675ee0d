#include "plan/rivals/tree_brute_force.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "plan/rivals/brute_force.h"

namespace sluice::plan {
namespace {

std::vector<std::uint32_t> stages_of(const SeriesParallelTree& tree) {
  std::vector<std::uint32_t> stages;
  for (const auto& node : tree.nodes) {
    if (node.kind == SeriesParallelTree::Kind::stage) stages.push_back(node.stage);
  }
  std::sort(stages.begin(), stages.end());
  return stages;
}

class Enumeration {
 public:
  explicit Enumeration(const TreeQuestion& question)
      : question_(question),
        stages_(stages_of(question.tree)),
        chosen_(question.stages.size()),
        terms_(question.stages.size()) {
    CHECK(question.scales.empty() || question.scales.size() == question.stages.size());
    CHECK(stages_.empty() || stages_.back() < question.stages.size());
  }

  [[nodiscard]] double count() const {
    double assignments = 1;
    for (const std::uint32_t s : stages_) assignments *= static_cast<double>(question_.stages[s].size());
    return assignments;
  }

  std::vector<Assignment> run() && {
    visit(0);
    return std::move(frontier_);
  }

 private:
  void visit(std::size_t level) {
    if (level == stages_.size()) return keep({evaluate(question_.tree, terms_), chosen_});
    const std::uint32_t s = stages_[level];
    const StageScale scale = question_.scales.empty() ? StageScale{} : question_.scales[s];
    for (std::uint32_t i = 0; i < question_.stages[s].size(); ++i) {
      const Candidate& c = question_.stages[s][i];
      chosen_[s] = i;
      terms_[s] = scale.of(c.ms, c.cost);
      visit(level + 1);
    }
  }

  // Assignments come in ascending order of candidates, so the first of equal ones stays.
  void keep(const Assignment& a) {
    const auto slower = std::upper_bound(frontier_.begin(), frontier_.end(), a.totals.ms,
                                         [](double ms, const Assignment& other) { return ms < other.totals.ms; });
    if (slower != frontier_.begin() && std::prev(slower)->totals.cost <= a.totals.cost) return;
    auto first_beaten = slower;
    if (first_beaten != frontier_.begin() && std::prev(first_beaten)->totals.ms == a.totals.ms) --first_beaten;
    auto last_beaten = slower;
    while (last_beaten != frontier_.end() && last_beaten->totals.cost >= a.totals.cost) ++last_beaten;
    frontier_.insert(frontier_.erase(first_beaten, last_beaten), a);
  }

  const TreeQuestion& question_;
  const std::vector<std::uint32_t> stages_;
  std::vector<std::uint32_t> chosen_;
  std::vector<StageTerms> terms_;
  std::vector<Assignment> frontier_;  // by ms ascending, cost strictly descending
};

}  // namespace

Result<std::vector<Assignment>> brute_force_frontier(const TreeQuestion& question) {
  Enumeration enumeration(question);
  if (enumeration.count() > kBruteForcePathsMax) {
    return Error{ErrorCode::too_large, str("brute force over ", enumeration.count(), " assignments; at most ",
                                           kBruteForcePathsMax, ": use fewer stages or configurations")};
  }
  return std::move(enumeration).run();
}

}  // namespace sluice::plan
