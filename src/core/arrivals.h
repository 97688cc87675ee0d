// Arrivals: requests that were observed and are not admitted yet, in the order in which they came. Ids usually ascend:
// then looking for one takes O(log n), also while thousands come at once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "domain/events.h"

namespace sluice::core {

class Arrivals {
 public:
  // False, and nothing changes, if one with its id is there or was cancelled since the last take().
  bool add(const RequestArrived& event) {
    if (position(event.id) != list_.size()) return false;
    ascending_ = ascending_ && (list_.empty() || list_.back().request.id < event.id);
    list_.push_back({event});
    return true;
  }
  // False: it is not there.
  bool cancel(RequestId id) {
    const std::size_t at = position(id);
    return at != list_.size() && !std::exchange(list_[at].cancelled, true);
  }
  // Calls `admit` with each that was not cancelled. Nobody is left then.
  void take(const auto& admit) {
    for (const Arrival& one : list_)
      if (!one.cancelled) admit(one.request);
    list_.clear();
    ascending_ = true;
  }
  void visit(Archive& archive) {
    archive(list_);
    if (!archive.is_loading()) return;
    const auto id = [](const Arrival& one) { return one.request.id; };
    ascending_ = std::ranges::is_sorted(list_, {}, id);
  }

 private:
  struct Arrival {
    RequestArrived request;
    bool cancelled = false;  // it keeps its place: taking thousands out one by one would move those behind each
    void visit(auto& archive) { archive(request, cancelled); }
  };
  [[nodiscard]] std::size_t position(RequestId id) const {  // list_.size(): it is not there
    const auto of = [](const Arrival& one) { return one.request.id; };
    const auto found = ascending_ ? std::ranges::lower_bound(list_, id, {}, of) : std::ranges::find(list_, id, of);
    const bool there = found != list_.end() && found->request.id == id;
    return there ? static_cast<std::size_t>(found - list_.begin()) : list_.size();
  }

  std::vector<Arrival> list_;
  bool ascending_ = true;
};

}  // namespace sluice::core
