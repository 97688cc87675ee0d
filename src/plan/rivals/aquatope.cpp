#include "plan/rivals/aquatope.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"
#include "plan/rivals/expected_improvement.h"
#include "plan/rivals/gaussian_predictions.h"
#include "plan/rivals/knob_space.h"

namespace sluice::plan {
namespace {

Rng keyed(std::string_view name, double slo_ms, std::uint64_t seed) {
  Hash hash;
  hash.add(name);
  Hash slo;
  slo.add(slo_ms);
  return Rng::keyed(seed, hash.value(), slo.value());
}

// One request that ran with `candidates`, all times drawn.
Totals draw(const WorkflowModel& model, std::span<const std::uint32_t> candidates, Rng& rng) {
  std::vector<StageTerms> terms;
  for (std::size_t s = 0; s < model.stages.size(); ++s) {
    const ModelStage& stage = model.stages[s];
    const Candidate& c = stage.candidates[candidates[s]];
    const double ms = std::max(0.0, c.ms + stage.sd_ms[candidates[s]] * std::clamp(rng.normal(), -3.0, 3.0));
    terms.push_back(stage.scale.of(ms, c.ms > 0 ? c.cost * (ms / c.ms) : c.cost));
    terms.back().ms += stage.wait_ms;
  }
  return evaluate(model.tree, terms);
}

class Search {
 public:
  Search(const WorkflowModel& model, const KnobSpace& space, double slo_ms, const AquatopeSettings& settings, Rng rng)
      : model_(model), space_(space), slo_ms_(slo_ms), settings_(settings), rng_(rng), points_(space.dimensions()) {}

  AquatopePreset run() {
    for (std::size_t i = 0; i < settings_.initial; ++i) sample(random_point());
    for (std::size_t round = 0; round < settings_.rounds; ++round) {
      fit(round % settings_.settings_every == 0);
      take_round();
    }
    fit(true);
    return preset();
  }

 private:
  // The processes of what is believed now, and which samples they were made from.
  struct Models {
    GaussianProcess latency, cost;
    std::vector<std::uint32_t> kept;
  };

  std::vector<double> random_point() {
    std::vector<double> point(space_.dimensions());
    for (double& x : point) x = rng_.uniform();
    return point;
  }

  void sample(std::span<const double> point) {
    space_.at(point, scratch_);
    const Totals totals = draw(model_, scratch_, rng_);
    points_.add(point);
    latencies_.push_back(totals.ms);
    costs_.push_back(totals.cost);
  }

  void fit(bool choose) {
    if (choose) {
      of_latency_ = GaussianProcess::choose(points_, latencies_);
      of_cost_ = GaussianProcess::choose(points_, costs_);
    }
    std::vector<std::uint32_t> all(points_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    models_ = model_of(std::move(all));
    if (settings_.outlier_deviations <= 0) return;
    std::vector<std::uint32_t> kept = ordinary();
    // All of very few samples may look odd; then nothing is known to be.
    if (kept.size() >= 2 && kept.size() < points_.size()) models_ = model_of(std::move(kept));
  }

  Models model_of(std::vector<std::uint32_t> kept) const {
    Points points(space_.dimensions());
    std::vector<double> latencies, costs;
    for (const std::uint32_t i : kept) {
      points.add(points_[i]);
      latencies.push_back(latencies_[i]);
      costs.push_back(costs_[i]);
    }
    return {GaussianProcess(points, latencies, of_latency_), GaussianProcess(points, costs, of_cost_), std::move(kept)};
  }

  // Samples that neither process is surprised by. REQUIRES: the models are of all samples.
  [[nodiscard]] std::vector<std::uint32_t> ordinary() const {
    const std::vector<double> latency = models_->latency.surprises(), cost = models_->cost.surprises();
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < latency.size(); ++i) {
      if (std::max(std::abs(latency[i]), std::abs(cost[i])) <= settings_.outlier_deviations) out.push_back(i);
    }
    return out;
  }

  void take_round() {
    Points prospects(space_.dimensions());
    for (std::size_t i = 0; i < settings_.prospects; ++i) prospects.add(random_point());
    GaussianPredictions latency(models_->latency, prospects), cost(models_->cost, prospects);
    std::optional<Dollars> best = lowest_feasible_cost();
    std::vector<std::size_t> taken;
    while (taken.size() < settings_.points) {
      taken.push_back(most_promising(latency, cost, best));
      const double mean_cost = cost[taken.back()].mean;
      if (latency[taken.back()].mean <= slo_ms_) best = std::min(best.value_or(mean_cost), mean_cost);
      latency.believe(taken.back());
      cost.believe(taken.back());
    }
    for (const std::size_t i : taken) sample(prospects[i]);
  }

  // Ties to the earlier.
  [[nodiscard]] std::size_t most_promising(const GaussianPredictions& latency, const GaussianPredictions& cost,
                                           std::optional<Dollars> best) const {
    std::size_t out = 0;
    double most = -1;
    for (std::size_t i = 0; i < latency.size(); ++i) {
      const double within = probability_within(slo_ms_, latency[i]);
      const double score = best ? within * expected_improvement(*best, cost[i]) : within;
      if (score > most) {
        most = score;
        out = i;
      }
    }
    return out;
  }

  [[nodiscard]] std::optional<Dollars> lowest_feasible_cost() const {
    std::optional<Dollars> out;
    for (std::size_t i = 0; i < models_->kept.size(); ++i) {
      if (models_->latency.mean_at(i) > slo_ms_) continue;
      out = std::min(out.value_or(models_->cost.mean_at(i)), models_->cost.mean_at(i));
    }
    return out;
  }

  [[nodiscard]] AquatopePreset preset() const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    AquatopePreset out{.ms = kNever, .cost = kNever, .samples = points_.size()};
    out.outliers = points_.size() - models_->kept.size();
    std::size_t best = 0;
    for (std::size_t i = 0; i < models_->kept.size(); ++i) {
      const double ms = models_->latency.mean_at(i);
      const Dollars cost = models_->cost.mean_at(i);
      const bool feasible = ms <= slo_ms_;
      // Feasible ones first and by cost, the others by time.
      if (feasible < out.feasible || (feasible == out.feasible && (feasible ? cost >= out.cost : ms >= out.ms)))
        continue;
      out.feasible = feasible;
      out.ms = ms;
      out.cost = cost;
      best = i;
    }
    space_.at(points_[models_->kept[best]], out.candidates);
    return out;
  }

  const WorkflowModel& model_;
  const KnobSpace& space_;
  const double slo_ms_;
  const AquatopeSettings& settings_;
  Rng rng_;
  Points points_;  // sampled
  std::vector<double> latencies_, costs_;
  GaussianProcess::Settings of_latency_, of_cost_;
  std::optional<Models> models_;
  std::vector<std::uint32_t> scratch_;
};

}  // namespace

AquatopePreset aquatope_preset(const WorkflowModel& model, std::string_view name, double slo_ms,
                               const AquatopeSettings& settings) {
  CHECK(settings.initial >= 1 && settings.points >= 1 && settings.prospects >= 1 && settings.settings_every >= 1);
  const KnobSpace space(model);
  if (space.dimensions() > 0) return Search(model, space, slo_ms, settings, keyed(name, slo_ms, settings.seed)).run();
  AquatopePreset only{.candidates = std::vector<std::uint32_t>(model.stages.size(), 0)};
  Rng rng = keyed(name, slo_ms, settings.seed);
  const Totals totals = draw(model, only.candidates, rng);
  only.feasible = totals.ms <= slo_ms;
  only.ms = totals.ms;
  only.cost = totals.cost;
  only.samples = 1;
  return only;
}

}  // namespace sluice::plan
