#include "sim/prepare.h"

#include "base/text.h"
#include "sim/rules.h"

namespace sluice::sim {
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
