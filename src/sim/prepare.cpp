#include "sim/prepare.h"

#include "base/text.h"

namespace sluice::sim {
namespace {

// The time of a request alone with the least configuration everywhere: what `slo_scale` multiplies.
Duration minimum_time(const plan::WorkflowModel& model) {
  std::vector<plan::StageTerms> terms;
  for (const plan::ModelStage& stage : model.stages) {
    terms.push_back({plan::least(stage.candidates).ms * stage.scale.ms + stage.wait_ms, 0});
  }
  return Duration::ms(plan::evaluate(model.tree, terms).ms);
}

}  // namespace

Application as_deployed(const Experiment& experiment, const Application& application) {
  Application out = application;
  if (experiment.prices) out.prices = *experiment.prices;
  return out;
}

Duration objective_of(const Experiment& experiment, const Application& application, const plan::WorkflowModel& model) {
  return experiment.slo_scale ? minimum_time(model) * *experiment.slo_scale : application.objective.latency;
}

Result<policy::Prepared> prepare(const Experiment& experiment, std::string_view scheduler) {
  policy::Prepared out;
  if (scheduler != "aquatope") return out;
  const auto parameters = experiment.parameters.find("aquatope");
  auto presets = std::make_shared<policy::AquatopePresets>();
  for (const Application& listed : experiment.applications) {
    const Application application = as_deployed(experiment, listed);
    const auto named = [&](const Error& error) {
      return Error{error.code, str("application '", application.name, "': ", error.message)};
    };
    const auto profiles = plan::make_profiles(application);
    if (!profiles) return named(profiles.error());
    const auto model = plan::make_model(application, *profiles);
    if (!model) return named(model.error());
    presets->insert(
        policy::aquatope_preset(application, *model, objective_of(experiment, application, *model),
                                parameters == experiment.parameters.end() ? policy::Parameters{} : parameters->second));
  }
  out.aquatope = std::move(presets);
  return out;
}

}  // namespace sluice::sim
