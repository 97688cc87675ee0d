#include "sim/rules.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "profile/portable_math.h"

namespace sluice::sim {

Application as_deployed(const Experiment& experiment, const Application& application) {
  Application out = application;
  if (experiment.prices) out.prices = *experiment.prices;
  return out;
}

Duration objective_of(const Experiment& experiment, const Application& application, const plan::WorkflowModel& model) {
  if (!experiment.slo_scale) return application.objective.latency;
  std::vector<plan::StageTerms> terms;
  for (const plan::ModelStage& stage : model.stages) {
    terms.push_back({plan::least(stage.candidates).ms * stage.scale.ms + stage.wait_ms, 0});
  }
  return Duration::ms(plan::evaluate(model.tree, terms).ms) * *experiment.slo_scale;
}

double luck_of(const LuckKey& key, double sigma, const std::optional<Noise>& noise) {
  Rng draw = Rng::keyed(key.seed, key.request, key.stage);
  double factor = 1;
  if (sigma > 0 && noise && noise->law == NoiseLaw::log_normal) {
    const double variance = portable_log(1 + sigma * sigma);  // of the logarithm, so that mean and deviation come out
    factor = profile::portable_exp(std::sqrt(variance) * draw.normal() - variance / 2);
  } else if (sigma > 0) {
    factor += sigma * std::clamp(draw.normal(), -3.0, 3.0);
  }
  if (noise && draw.chance(noise->straggler_probability)) factor *= noise->straggler_factor;
  return factor;
}

double drift_of(const std::optional<Noise>& noise, Duration since_start) {
  if (!noise) return 1;
  double slower = 1;
  for (const Slowdown& slow : noise->slow) {
    if (slow.at <= since_start) slower = slow.factor;
  }
  return slower * (1 + std::min(noise->drift_max, noise->drift_per_minute * since_start.to_s() / 60));
}

}  // namespace sluice::sim
