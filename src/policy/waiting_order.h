// WaitingOrder: all that waits, in an order over all queues, walked once at one instant. Used by dispatches that look
// at requests and not at queues. What is started or given up on the way leaves its queue, and those behind it move up.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/view.h"

namespace sluice::policy {

template <class Rank>
class WaitingOrder {
 public:
  struct Place {
    Rank rank;
    RequestId request;
    InvocationId invocation;        // of equal ranks the request that came first
    std::uint32_t queue, position;  // when the instant began
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // `rank` of what waits: smaller is first.
  template <class RankOf>
  void begin(const View& view, const RankOf& rank) {
    places_.clear();
    at_ = 0;
    for (const std::uint32_t q : view.busy_queues) {
      for (std::uint32_t i = 0; i < view.queues[q].waiting.size(); ++i) {
        const Waiting& w = view.queues[q].waiting[i];
        places_.push_back({rank(w), w.request, w.invocation, q, i});
      }
    }
    std::sort(places_.begin(), places_.end());
  }
  [[nodiscard]] bool over() const { return at_ == places_.size(); }
  [[nodiscard]] const Queue& queue(const View& view) const { return view.queues[places_[at_].queue]; }
  // Where the one at hand is in its queue now; nothing: it is no longer there, as if its request has ended.
  [[nodiscard]] std::optional<std::uint32_t> position(const View& view) const {
    const Ring<Waiting>& waiting = queue(view).waiting;
    const Place& place = places_[at_];
    for (std::size_t i = std::min<std::size_t>(place.position + 1, waiting.size()); i-- > 0;) {
      if (waiting[i].invocation == place.invocation) return static_cast<std::uint32_t>(i);
    }
    return std::nullopt;
  }
  void go_on() { ++at_; }

 private:
  std::vector<Place> places_;
  std::size_t at_ = 0;
};

}  // namespace sluice::policy
