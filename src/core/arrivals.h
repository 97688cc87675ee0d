// Arrivals: requests that were observed and are not admitted yet, in the order in which they came. Ids usually ascend:
// then looking for one takes O(log n), also while thousands come at once.
#pragma once
#include <algorithm>
#include <vector>

#include "base/archive.h"
#include "domain/events.h"

namespace sluice::core {

class Arrivals {
 public:
  [[nodiscard]] const std::vector<RequestArrived>& all() const { return list_; }
  // False, and nothing changes, if one with its id is there.
  bool add(const RequestArrived& event) {
    if (find(event.id) != list_.end()) return false;
    ascending_ = ascending_ && (list_.empty() || list_.back().id < event.id);
    list_.push_back(event);
    return true;
  }
  // False: it is not there.
  bool remove(RequestId id) {
    const auto found = find(id);
    if (found == list_.end()) return false;
    list_.erase(found);
    return true;
  }
  void clear() {
    list_.clear();
    ascending_ = true;
  }
  void visit(Archive& archive) {
    archive(list_);
    if (!archive.is_loading()) return;
    ascending_ = std::ranges::is_sorted(list_, {}, &RequestArrived::id);
  }

 private:
  [[nodiscard]] std::vector<RequestArrived>::const_iterator find(RequestId id) const {
    if (!ascending_) return std::ranges::find(list_, id, &RequestArrived::id);
    const auto found = std::ranges::lower_bound(list_, id, {}, &RequestArrived::id);
    return found != list_.end() && found->id == id ? found : list_.end();
  }

  std::vector<RequestArrived> list_;
  bool ascending_ = true;
};

}  // namespace sluice::core
