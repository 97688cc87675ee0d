#include "reproduce/esg_tuned.h"

#include <limits>

#include "base/check.h"

namespace sluice::reproduce {
namespace {

constexpr double kTie = 0.001;  // of the hit rate

constexpr double kSafety[] = {1, 1.02, 1.04, 1.06, 1.08, 1.1, 1.15, 1.2};

}  // namespace

std::map<std::string, double> EsgTuning::parameters() const {
  return {{"safety", safety}, {"k", k}, {"order", order}, {"group", group}};
}

std::vector<EsgTuning> tuning_grid() {
  std::vector<EsgTuning> out;
  for (const double safety : kSafety) {
    for (const unsigned k : {1u, 5u, 10u}) {
      for (const unsigned order : {0u, 1u}) {
        for (const unsigned group : {1u, 3u, 5u}) out.push_back({safety, k, order, group});
      }
    }
  }
  return out;
}

std::vector<EsgTuning> short_tuning_grid() {
  std::vector<EsgTuning> out;
  for (const double safety : {1.0, 1.04, 1.08, 1.15}) {
    for (const unsigned order : {0u, 1u}) out.push_back({.safety = safety, .order = order});
  }
  return out;
}

std::size_t best_tuning(std::span<const Figures> tried) {
  CHECK(!tried.empty());
  double most = 0;
  for (const Figures& f : tried) most = std::max(most, f.hit_rate);
  std::size_t best = tried.size();
  const auto cost = [&](std::size_t i) {
    return tried[i].cost_per_met.value_or(std::numeric_limits<double>::infinity());
  };
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].hit_rate + kTie < most) continue;
    if (best == tried.size() || cost(i) < cost(best)) best = i;
  }
  return best;
}

EsgTuning known_tuning(Setting setting) {
  static const std::map<Setting, EsgTuning> kKnown{
      {{Slo::strict, Load::light}, {.safety = 1.1, .k = 1, .order = 0, .group = 3}},
      {{Slo::moderate, Load::light}, {.safety = 1.15, .k = 1, .order = 0, .group = 5}},
      {{Slo::relaxed, Load::light}, {.safety = 1, .k = 1, .order = 0, .group = 1}},
      {{Slo::strict, Load::normal}, {.safety = 1.1, .k = 5, .order = 0, .group = 5}},
      {{Slo::moderate, Load::normal}, {.safety = 1.15, .k = 5, .order = 0, .group = 5}},
      {{Slo::relaxed, Load::normal}, {.safety = 1, .k = 1, .order = 0, .group = 1}},
      {{Slo::strict, Load::heavy}, {.safety = 1.08, .k = 1, .order = 0, .group = 5}},
      {{Slo::moderate, Load::heavy}, {.safety = 1.04, .k = 5, .order = 1, .group = 1}},
      {{Slo::relaxed, Load::heavy}, {.safety = 1, .k = 1, .order = 0, .group = 1}},
  };
  return kKnown.at(setting);
}

}  // namespace sluice::reproduce
