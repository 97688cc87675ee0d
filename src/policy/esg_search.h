// ESG_1Q as the scheduler `esg` asks for it: by queue, with the objective split by average normalised length over
// groups of stages, and searches remembered by batch cap and whole millisecond, on request from run to run.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/rivals/esg_1q_lazy.h"
#include "plan/rivals/slo_split.h"
#include "policy/esg_answers.h"
#include "policy/search_memo.h"

namespace sluice::policy {

// The stages that one search plans, with batches up to a cap, and where answers about them are.
struct EsgGroup {
  plan::BatchCap cap;
  plan::IndexedStages stages;
  const EsgAnswers::Shelf* known;  // null: none
  EsgAnswers::Shelf* found;        // null: nobody wants them
};

// What is derived from an application once: the split of its objective and the sorted candidates of every group suffix.
class EsgModel {
 public:
  EsgModel(const plan::WorkflowModel& workflow, std::size_t group);
  [[nodiscard]] double budget_ms(std::uint32_t stage, double remaining_ms) const {
    return split_.budget_ms(stage, remaining_ms);
  }
  // The group's stages from `stage` on; null: no such search yet.
  [[nodiscard]] const EsgGroup* find_group(std::uint32_t stage, plan::BatchCap cap) const;
  const EsgGroup& add_group(std::uint32_t stage, EsgGroup group);
  [[nodiscard]] EsgAnswers::Chain chain(std::uint32_t stage) const;
  // The largest batch of the group's stages that is no larger than what waits (0: none): between two, caps are the
  // same.
  [[nodiscard]] plan::BatchCap cap(std::uint32_t stage, std::size_t waiting) const;
  [[nodiscard]] const plan::Candidates& candidates(std::uint32_t stage) const { return candidates_[stage]; }

 private:
  std::vector<plan::Candidates> candidates_;
  plan::SloSplit split_;
  std::vector<std::vector<plan::BatchCap>> batches_;            // by stage: of its group from there on, ascending
  std::vector<std::vector<std::unique_ptr<EsgGroup>>> groups_;  // by stage
};

struct EsgSearchOptions {
  std::size_t k = 5, group = 3;
  bool distinct_first = false;  // the K best first configurations instead of those of the K best paths
  bool memo = true;  // budgets are rounded down to 1 ms and answers remembered, here and in the library; else neither
  std::size_t memo_max = 100'000;
};

class EsgSearch {
 public:
  explicit EsgSearch(const EsgSearchOptions& options, EsgLibrary library = {})
      : options_(options), library_(std::move(library)), memo_(options.memo_max) {}
  EsgModel& model(const Queue& queue);
  // Valid until the next search.
  const EsgAnswer& find(const Queue& queue, plan::BatchCap cap, double budget_ms);

 private:
  const EsgGroup& group(const Queue& queue, plan::BatchCap cap);  // built when first asked for
  [[nodiscard]] EsgAnswer search(const Queue& queue, const EsgGroup& group, double budget_ms);

  EsgSearchOptions options_;
  EsgLibrary library_;
  struct Built {
    std::shared_ptr<const plan::WorkflowModel> workflow;  // it was built from
    std::unique_ptr<EsgModel> model;
  };
  std::vector<Built> models_;  // by queue
  plan::LazyWorkspace workspace_;
  SearchMemo<EsgAnswer> memo_;
  EsgAnswer last_;  // without a memo
};

}  // namespace sluice::policy
