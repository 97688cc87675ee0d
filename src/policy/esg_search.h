// ESG_1Q as the scheduler `esg` asks for it: by queue, with the objective split by average normalised length over
// groups of stages, and searches remembered by batch cap and whole millisecond.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/rivals/esg_1q.h"
#include "plan/rivals/slo_split.h"
#include "policy/search_memo.h"

namespace sluice::policy {

// What is derived from an application once: the split of its objective and the sorted candidates of every group suffix.
class EsgModel {
 public:
  EsgModel(const plan::FrontierPlanner& planner, std::size_t group);
  [[nodiscard]] double budget_ms(std::uint32_t stage, double remaining_ms) const {
    return split_.budget_ms(stage, remaining_ms);
  }
  // The group's stages from `stage` on with batches up to `cap`; built when first asked for.
  const plan::SortedStages& stages(std::uint32_t stage, plan::BatchCap cap);
  // The largest batch of the group's stages that is no larger than what waits (0: none): between two, caps are the
  // same.
  [[nodiscard]] plan::BatchCap cap(std::uint32_t stage, std::size_t waiting) const;
  [[nodiscard]] const plan::Candidates& candidates(std::uint32_t stage) const { return candidates_[stage]; }

 private:
  std::vector<plan::Candidates> candidates_;
  plan::SloSplit split_;
  std::vector<std::vector<plan::BatchCap>> batches_;  // by stage: of its group from there on, ascending
  std::vector<std::vector<std::pair<plan::BatchCap, std::unique_ptr<plan::SortedStages>>>> sorted_;
};

// The first configurations of the K best paths, cheapest path first, and what finding them took.
struct EsgAnswer {
  std::vector<Configuration> firsts;
  std::uint64_t expansions = 0;
  friend bool operator==(const EsgAnswer&, const EsgAnswer&) = default;
};

struct EsgSearchOptions {
  std::size_t k = 5, group = 3;
  bool distinct_first = false;  // the K best first configurations instead of those of the K best paths
  bool memo = true;             // budgets are rounded down to 1 ms and answers remembered; else neither
  std::size_t memo_max = 100'000;
};

class EsgSearch {
 public:
  explicit EsgSearch(const EsgSearchOptions& options) : options_(options), memo_(options.memo_max) {}
  EsgModel& model(const Queue& queue);
  // Valid until the next search.
  const EsgAnswer& find(const Queue& queue, plan::BatchCap cap, double budget_ms);

 private:
  [[nodiscard]] EsgAnswer search(const Queue& queue, plan::BatchCap cap, double budget_ms);

  EsgSearchOptions options_;
  struct Built {
    std::shared_ptr<const plan::FrontierPlanner> planner;  // it was built from
    std::unique_ptr<EsgModel> model;
  };
  std::vector<Built> models_;  // by queue
  plan::SearchWorkspace workspace_;
  SearchMemo<EsgAnswer> memo_;
  EsgAnswer last_;  // without a memo
};

}  // namespace sluice::policy
