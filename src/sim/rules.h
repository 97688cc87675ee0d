// The rules of the simulated world that others must know to the bit: when a request is due and how lucky a batch is.
// Used by World, and by the bounds of reproduce/, which look into its future.
#pragma once
#include <cstdint>
#include <optional>

#include "domain/experiment.h"
#include "plan/workflow_model.h"

namespace sluice::sim {

// The application as the experiment deploys it: with the experiment's prices, if it has its own.
[[nodiscard]] Application as_deployed(const Experiment& experiment, const Application& application);
// The latency objective of an application: `slo_scale` times its time alone with the least configuration everywhere, or
// as deployed.
[[nodiscard]] Duration objective_of(const Experiment& experiment, const Application& application,
                                    const plan::WorkflowModel& model);

// Whose luck a batch has: that of its oldest member and its stage, so that all schedulers see the same for the same
// work.
struct LuckKey {
  std::uint64_t seed = 0, request = 0, stage = 0;
};
// What the mean time of a batch is multiplied with. `sigma` is that of the noise, or of the profile if there is none.
// Without drift: bounds that leave it out stay bounds, since it only adds to times.
[[nodiscard]] double luck_of(const LuckKey& key, double sigma, const std::optional<Noise>& noise);
// Likewise what times have grown by, so long after the start.
[[nodiscard]] double drift_of(const std::optional<Noise>& noise, Duration since_start);

}  // namespace sluice::sim
