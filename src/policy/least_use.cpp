#include "policy/least_use.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "plan/evaluate.h"

namespace sluice::policy {
namespace {

// Those that no other is better than, whatever things cost.
LeastUse::Points undominated(const LeastUse::Points& points) {
  LeastUse::Points sorted = points, out;
  const auto key = [](const LeastUse::Point& p) { return std::tuple(p.batch, p.ms, p.vcpu_ms, p.slice_ms); };
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  for (const LeastUse::Point& p : sorted) {
    const auto better = [&](const LeastUse::Point& q) {  // those before it that are as large take no longer
      return q.batch == p.batch && q.vcpu_ms <= p.vcpu_ms && q.slice_ms <= p.slice_ms;
    };
    if (std::ranges::none_of(out, better)) out.push_back(p);
  }
  return out;
}

}  // namespace

LeastUse::LeastUse(std::shared_ptr<const plan::WorkflowModel> model, const std::vector<Points>& points,
                   std::uint64_t made)
    : model_(std::move(model)), made_(made) {
  for (const Points& of_stage : points) points_.push_back(undominated(of_stage));
}

LeastUse::Sum LeastUse::sum(double vcpu_price, double slice_price, double ms_price, double company) const {
  const plan::WorkflowModel& model = *model_;
  std::vector<plan::StageTerms> terms;
  terms.reserve(points_.size());
  for (std::size_t s = 0; s < points_.size(); ++s) {
    if (points_[s].empty()) {
      terms.push_back({model.stages[s].wait_ms, 0});
      continue;
    }
    const double fewest = points_[s].front().batch;
    const auto taken = [&](const Point& p) {
      const double members = std::min(p.batch, std::max(company, 1.0));
      return (vcpu_price * p.vcpu_ms + slice_price * p.slice_ms) / (p.batch > fewest ? members : 1);
    };
    const auto key = [&](const Point& p) { return std::tuple(taken(p) + ms_price * p.ms, p.ms); };
    const Point& best = *std::ranges::min_element(points_[s], {}, key);
    // In full, as it is promised, though a condition may skip it.
    terms.push_back({best.ms * model.stages[s].scale.ms + model.stages[s].wait_ms, taken(best)});
  }
  const plan::Totals whole = plan::evaluate(model.tree, terms);
  return {whole.ms, whole.cost};
}

double LeastUse::at(double vcpu_price, double slice_price, double within_ms, double company) const {
  constexpr double kAlmost = 1e-9;
  const double within = within_ms * (1 + kAlmost);
  const Sum free = sum(vcpu_price, slice_price, 0, company);
  if (free.ms <= within || free.ms <= 0) return free.taken;
  // A price of time that is a thousand times as high as what is taken a millisecond leaves only the fastest.
  constexpr double kFastest = 1e3, kLeast = 1e-3;
  constexpr int kSteps = 12;
  const double usual = std::max(free.taken, 1e-12) / free.ms;
  double low = usual * kLeast, high = usual * kFastest;
  Sum best = sum(vcpu_price, slice_price, high, company);
  if (best.ms > within) return best.taken;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = std::sqrt(low * high);
    const Sum at = sum(vcpu_price, slice_price, middle, company);
    if (at.ms <= within) {
      high = middle;
      best = at;
    } else {
      low = middle;
    }
  }
  return best.taken;
}

}  // namespace sluice::policy
