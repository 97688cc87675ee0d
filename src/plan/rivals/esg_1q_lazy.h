// ESG_1Q's answer and the number of its expansions, to the bit, in a fraction of its time. Used by the scheduler `esg`,
// which is charged by that number; what ESG_1Q itself takes is measured with esg_1q.h.
#pragma once
#include <span>
#include <vector>

#include "plan/rivals/esg_1q.h"
#include "plan/rivals/lazy_prefixes.h"

namespace sluice::plan {

// SortedStages with an index of each.
class IndexedStages {
 public:
  IndexedStages(std::span<const Candidates> stages, BatchCap batch_cap);
  [[nodiscard]] const SortedStages& sorted() const { return sorted_; }
  [[nodiscard]] const FitIndex& index(std::size_t stage) const { return index_[stage]; }

 private:
  SortedStages sorted_;
  std::vector<FitIndex> index_;  // by stage
};

// One per thread.
struct LazyWorkspace {
  SearchWorkspace search;
  LazyPrefixes prefixes;
  std::vector<Extensions> extensions;
};

// The paths and the count of esg_1q(). What is saved: prefixes that ESG_1Q keeps, sorts and then turns down one by one
// are counted (lazy_prefixes.h), and so are candidates that neither fit nor lower the bound.
// Caveat: where fewer than K paths (with `distinct_first`: first configurations) are within the budget, nothing bounds
// the cost and every prefix is made.
[[nodiscard]] SearchResult esg_1q_lazy(const IndexedStages& stages, const EsgQuery& query, LazyWorkspace& workspace);

}  // namespace sluice::plan
