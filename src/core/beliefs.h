// Beliefs: what planners believe of one application, and what they will believe once plans of it are made. A new belief
// waits until the plans of the one before it are there, so that plans are made for one of them at a time and what
// changes often is planned as often as planning takes, not as often as it changes.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/archive.h"
#include "domain/application.h"
#include "plan/workflow_model.h"

namespace sluice::core {

struct Belief {
  std::shared_ptr<const Application> application;  // null: as it was deployed
  plan::ModelAssumptions assumptions;
  std::uint64_t revision = 0;  // 0: as it was deployed
  void visit(Archive& a) {
    a(application, assumptions.shares, assumptions.items, assumptions.stragglers, assumptions.neighbours, revision);
  }
};

class Beliefs {
 public:
  [[nodiscard]] const Belief& believed() const { return believed_; }
  // What will be believed when all plans are made.
  [[nodiscard]] const Belief& newest() const { return next_ ? *next_ : under_way_ ? *under_way_ : believed_; }
  // Of which plans are being made.
  [[nodiscard]] const std::optional<Belief>& under_way() const { return under_way_; }

  // Takes the place of one of which nobody makes plans yet.
  void revise(std::shared_ptr<const Application> application, plan::ModelAssumptions assumptions) {
    const std::uint64_t revision = newest().revision + 1;
    next_ = Belief{std::move(application), std::move(assumptions), revision};
  }
  // Whether plans should be made now; if so, order() says of what.
  [[nodiscard]] bool waits() const { return next_ && !under_way_; }
  // REQUIRES: waits().
  std::uint64_t order() {
    under_way_ = std::exchange(next_, std::nullopt);
    return under_way_->revision;
  }
  // False: nobody waits for these plans.
  [[nodiscard]] bool made(std::uint64_t revision) {
    if (!under_way_ || under_way_->revision != revision) return false;
    believed_ = *std::exchange(under_way_, std::nullopt);
    return true;
  }
  void visit(Archive& a) { a(believed_, under_way_, next_); }

 private:
  Belief believed_;
  std::optional<Belief> under_way_, next_;
};

}  // namespace sluice::core
