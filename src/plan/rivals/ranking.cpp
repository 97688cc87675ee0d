#include "plan/rivals/ranking.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::plan {

void Ranking::reset(std::size_t k, bool distinct_first) {
  CHECK(k >= 1);
  k_ = k;
  distinct_first_ = distinct_first;
  entries_.clear();
}

void Ranking::insert(const Entry& entry) {
  if (distinct_first_) {
    const auto same =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == entry.first; });
    if (same != entries_.end()) {
      if (!before(entry, *same)) return;
      entries_.erase(same);
    }
  }
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, before), entry);
  if (entries_.size() > k_) entries_.pop_back();
}

}  // namespace sluice::plan
