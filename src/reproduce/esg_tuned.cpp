#include "reproduce/esg_tuned.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "base/check.h"

namespace sluice::reproduce {
namespace {

constexpr double kTie = 0.001;     // of the hit rate
constexpr double kThrifty = 0.01;  // likewise

using Line = std::vector<EsgTuning>;

template <class T, std::size_t N>
Line along(const EsgTuning& from, T EsgTuning::*parameter, const std::array<T, N>& values) {
  Line out;
  for (const T value : values) {
    out.push_back(from);
    out.back().*parameter = value;
  }
  return out;
}

// All values of one parameter, the others as they are.
Line line(const EsgTuning& from, std::size_t parameter) {
  constexpr std::array<double, 8> kSafety{1, 1.02, 1.04, 1.06, 1.08, 1.1, 1.15, 1.2};
  constexpr std::array kFlag{0u, 1u};
  switch (parameter) {
    case 0:
      return along(from, &EsgTuning::safety, kSafety);
    case 1:
      return along(from, &EsgTuning::drop, kFlag);
    case 2:
      return along(from, &EsgTuning::fallback, std::array{0u, 1u, 2u});
    case 3:
      return along(from, &EsgTuning::fails, std::array{3u, 10u, 30u});
    case 4:
      return along(from, &EsgTuning::group, std::array{1u, 3u, 5u});
    case 5:
      return along(from, &EsgTuning::order, kFlag);
    case 6:
      return along(from, &EsgTuning::k, std::array{1u, 5u, 10u});
    default:
      return along(from, &EsgTuning::distinct, kFlag);
  }
}
constexpr std::size_t kParameters = 8;

Line coarse_grid() {
  Line out;
  for (const double safety : {1.0, 1.04, 1.08, 1.15}) {
    for (const unsigned order : {0u, 1u}) {
      for (const unsigned drop : {0u, 1u}) out.push_back({.safety = safety, .order = order, .drop = drop});
    }
  }
  return out;
}

// The cheapest of those that miss no more than `slack` of the most hits.
std::size_t cheapest_within(std::span<const Figures> tried, double slack) {
  CHECK(!tried.empty());
  double most = 0;
  for (const Figures& f : tried) most = std::max(most, f.hit_rate);
  std::size_t best = tried.size();
  const auto cost = [&](std::size_t i) {
    return tried[i].cost_per_met.value_or(std::numeric_limits<double>::infinity());
  };
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].hit_rate + slack < most) continue;
    if (best == tried.size() || cost(i) < cost(best)) best = i;
  }
  return best;
}

}  // namespace

std::map<std::string, double> EsgTuning::parameters() const {
  return {{"safety", safety}, {"k", k},       {"order", order},       {"group", group},
          {"fails", fails},   {"drop", drop}, {"fallback", fallback}, {"distinct", distinct}};
}

std::size_t most_hits_of(std::span<const Figures> tried) {
  return cheapest_within(tried, kTie);
}

std::size_t thriftiest_of(std::span<const Figures> tried) {
  return cheapest_within(tried, kThrifty);
}

const EsgTuning& TuningSearch::best_for(Goal goal) const {
  return tried_[goal == Goal::hits ? most_hits_of(figures_) : thriftiest_of(figures_)];
}

std::vector<EsgTuning> TuningSearch::next() {
  if (tried_.empty()) return asked_ = coarse_grid();
  while (goal_ != Goal::done) {
    const EsgTuning from = best_for(goal_);
    if (parameter_ == 0) {
      if (round_ == rounds_max_ || (round_ > 0 && from == round_began_)) {
        goal_ = goal_ == Goal::hits ? Goal::cost : Goal::done;
        round_ = 0;
        continue;
      }
      round_began_ = from;
      ++round_;
    }
    asked_ = line(from, parameter_);
    parameter_ = (parameter_ + 1) % kParameters;
    std::erase_if(asked_, [&](const EsgTuning& t) { return std::ranges::find(tried_, t) != tried_.end(); });
    if (!asked_.empty()) return asked_;
  }
  return {};
}

void TuningSearch::tell(std::span<const Figures> figures) {
  CHECK(figures.size() == asked_.size());
  tried_.insert(tried_.end(), asked_.begin(), asked_.end());
  figures_.insert(figures_.end(), figures.begin(), figures.end());
}

EsgTwins TuningSearch::best() const {
  return {best_for(Goal::hits), best_for(Goal::cost)};
}

std::uint64_t TuningSearch::expected(unsigned rounds_max) {
  return 46 + 6 * rounds_max;
}

EsgTwins known_twins(Setting setting) {
  static const EsgTuning kPlain{};
  static const std::map<Setting, EsgTwins> kKnown{
      {{Slo::strict, Load::light}, {{.safety = 1.15}, {.safety = 1.04}}},
      {{Slo::moderate, Load::light}, {{.safety = 1.15, .group = 5}, {.safety = 1.1, .group = 5}}},
      {{Slo::relaxed, Load::light}, {kPlain, kPlain}},
      {{Slo::strict, Load::normal},
       {{.safety = 1.08, .k = 10, .group = 5, .distinct = 1}, {.safety = 1.04, .k = 10, .group = 5, .distinct = 1}}},
      {{Slo::moderate, Load::normal},
       {{.safety = 1.15, .group = 5, .distinct = 1}, {.safety = 1.1, .group = 5, .distinct = 1}}},
      {{Slo::relaxed, Load::normal}, {kPlain, kPlain}},
      {{Slo::strict, Load::heavy},
       {{.safety = 1.06, .k = 10, .order = 1, .group = 5, .fails = 10, .drop = 1},
        {.safety = 1.06, .k = 10, .order = 1, .group = 5, .fails = 10, .drop = 1}}},
      {{Slo::moderate, Load::heavy},
       {{.safety = 1.1, .k = 10, .order = 1, .group = 5, .fails = 10, .fallback = 2, .distinct = 1, .drop = 1},
        {.safety = 1.1, .k = 5, .order = 1, .group = 5, .fails = 10, .fallback = 2, .distinct = 1, .drop = 1}}},
      {{Slo::relaxed, Load::heavy}, {kPlain, kPlain}},
  };
  return kKnown.at(setting);
}

}  // namespace sluice::reproduce
