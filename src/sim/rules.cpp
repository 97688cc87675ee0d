#include "sim/rules.h"

#include <algorithm>

#include "base/rng.h"

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
  if (sigma > 0) factor += sigma * std::clamp(draw.normal(), -3.0, 3.0);
  if (noise && draw.chance(noise->straggler_probability)) factor *= noise->straggler_factor;
  return factor;
}

}  // namespace sluice::sim
