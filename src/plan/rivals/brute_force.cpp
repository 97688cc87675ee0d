#include "plan/rivals/brute_force.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/text.h"

namespace sluice::plan {
namespace {

bool better(const ChosenPath& a, const ChosenPath& b) {
  return std::tie(a.cost, a.ms, a.candidates) < std::tie(b.cost, b.ms, b.candidates);
}

// By stage, the positions of the candidates within the batch cap.
std::vector<std::vector<std::uint32_t>> allowed(const ChainQuestion& question) {
  std::vector<std::vector<std::uint32_t>> by_stage;
  for (const Candidates& candidates : question.stages) {
    auto& positions = by_stage.emplace_back();
    for (std::uint32_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].configuration.batch <= question.batch_cap) positions.push_back(i);
    }
  }
  return by_stage;
}

class Enumeration {
 public:
  Enumeration(const ChainQuestion& question, std::vector<std::vector<std::uint32_t>> allowed, std::size_t k)
      : question_(question), allowed_(std::move(allowed)), k_(k), chosen_(allowed_.size()) {}

  std::vector<ChosenPath> run() && {
    if (!allowed_.empty()) visit(0, 0, 0);
    return std::move(best_);
  }

 private:
  void visit(std::size_t level, double ms, Dollars cost) {
    const bool last = level + 1 == allowed_.size();
    for (const std::uint32_t i : allowed_[level]) {
      const Candidate& c = question_.stages[level][i];
      chosen_[level] = i;
      if (!last) {
        visit(level + 1, ms + c.ms, cost + c.cost);
      } else if (ms + c.ms <= question_.budget_ms && (best_.size() < k_ || cost + c.cost <= best_.back().cost)) {
        keep({.ms = ms + c.ms, .cost = cost + c.cost, .candidates = chosen_});
      }
    }
  }

  void keep(ChosenPath path) {
    best_.insert(std::upper_bound(best_.begin(), best_.end(), path, better), std::move(path));
    if (best_.size() > k_) best_.pop_back();
  }

  const ChainQuestion& question_;
  const std::vector<std::vector<std::uint32_t>> allowed_;
  const std::size_t k_;
  std::vector<std::uint32_t> chosen_;
  std::vector<ChosenPath> best_;
};

Status few_enough(const std::vector<std::vector<std::uint32_t>>& allowed) {
  double paths = 1;
  for (const auto& positions : allowed) paths *= static_cast<double>(positions.size());
  if (paths <= kBruteForcePathsMax) return Done{};
  return Error{ErrorCode::too_large,
               str("brute force over ", paths, " paths of ", allowed.size(), " stages; at most ", kBruteForcePathsMax,
                   ": use fewer stages or configurations, or another planner")};
}

}  // namespace

Result<std::vector<ChosenPath>> brute_force(const ChainQuestion& question, std::size_t k) {
  CHECK(k >= 1);
  auto positions = allowed(question);
  if (const Status status = few_enough(positions); !status.ok()) return status.error();
  return Enumeration(question, std::move(positions), k).run();
}

Result<std::vector<ChosenPath>> brute_force_per_first(const ChainQuestion& question) {
  const auto positions = allowed(question);
  if (const Status status = few_enough(positions); !status.ok()) return status.error();
  std::vector<ChosenPath> best;
  if (positions.empty()) return best;
  for (const std::uint32_t first : positions.front()) {
    auto narrowed = positions;
    narrowed.front() = {first};
    for (ChosenPath& path : Enumeration(question, std::move(narrowed), 1).run()) best.push_back(std::move(path));
  }
  std::sort(best.begin(), best.end(), better);
  return best;
}

}  // namespace sluice::plan
