// EdgeList: the edges into or out of a junction of a network, linked through the edges themselves so that one is
// removed in constant time.
#pragma once
#include <cstdint>

#include "domain/series_parallel/parts.h"

namespace sluice::reduction {

using Junction = std::uint32_t;
using EdgeId = std::uint32_t;
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct NetworkEdge {
  Junction tail = kNone, head = kNone;  // kNone: removed
  Part part = kEmpty;
  EdgeId next_out = kNone, previous_out = kNone, next_in = kNone, previous_in = kNone;
};

// For range-based for; the loop may remove the edge it is at.
class EdgeList {
 public:
  using Next = EdgeId NetworkEdge::*;
  struct End {};
  class Iterator {
   public:
    Iterator(const NetworkEdge* edges, Next next, EdgeId at) : edges_(edges), next_(next) { move_to(at); }
    EdgeId operator*() const { return at_; }
    void operator++() { move_to(following_); }
    bool operator==(End) const { return at_ == kNone; }

   private:
    void move_to(EdgeId e) {
      at_ = e;
      following_ = e == kNone ? kNone : edges_[e].*next_;
    }
    const NetworkEdge* edges_;
    Next next_;
    EdgeId at_ = kNone, following_ = kNone;
  };

  EdgeList(const NetworkEdge* edges, Next next, EdgeId first) : edges_(edges), next_(next), first_(first) {}
  [[nodiscard]] Iterator begin() const { return {edges_, next_, first_}; }
  [[nodiscard]] static End end() { return {}; }

 private:
  const NetworkEdge* edges_;
  Next next_;
  EdgeId first_;
};

}  // namespace sluice::reduction
