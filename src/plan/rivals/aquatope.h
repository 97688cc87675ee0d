// Aquatope's configuration search (ASPLOS 2023), as ESG's evaluation (HPDC 2024) compares it: an offline Bayesian
// optimisation per application and SLO that fixes one configuration for every stage. Used by the scheduler `aquatope`.
//
// Two Gaussian processes, for the latency and the cost of a request, over the unit cube of knobs (knob_space.h). A
// sample is one simulated request: every stage takes its profile's time with noise. Each round takes the points with
// the largest constrained expected improvement, one after the other, each believed before the next is chosen.
//
// | parameter            | value                          | mark                                                     |
// |----------------------|--------------------------------|----------------------------------------------------------|
// | budget, full         | 100 random + 50 rounds × 5     | reported, weak (ESG's evaluation)                        |
// | budget, small        | 10 random + 20 rounds × 3      | origin                                                   |
// | processes, score     | Matérn 5/2, constrained EI     | origin; lengths and noises to choose from are our choice |
// | prospects            | 2048 random points a round     | our choice                                               |
// | settings_every       | 5 rounds full, 1 small         | our choice: the likelihoods of 20 settings take n³       |
// | outlier_deviations   | 1.96, both sides: 95 %         | origin; by leaving one out: our choice                   |
// | noise of a sample    | the profile's sd, cut at 3 sd  | our choice; cost follows the drawn time                  |
// | preset               | cheapest modelled sample       | origin: within the SLO, else the fastest                 |
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/workflow_model.h"

namespace sluice::plan {

struct AquatopeSettings {
  std::size_t initial = 10;  // random samples
  std::size_t rounds = 20;
  std::size_t points = 3;  // samples a round
  std::size_t prospects = 2048;
  std::size_t settings_every = 1;    // rounds between choices of the processes' settings
  double outlier_deviations = 1.96;  // 0: no sample is an outlier
  std::uint64_t seed = 1;

  [[nodiscard]] static AquatopeSettings small() { return {}; }
  [[nodiscard]] static AquatopeSettings full() {
    return {.initial = 100, .rounds = 50, .points = 5, .settings_every = 5};
  }
};

struct AquatopePreset {
  std::vector<std::uint32_t> candidates;  // by stage of the model
  bool feasible = false;                  // its modelled latency is within the SLO
  double ms = 0;                          // modelled, as is the cost
  Dollars cost = 0;
  std::size_t samples = 0, outliers = 0;  // outliers: of all samples, when the preset was chosen
};

// A pure function: the same arguments give the same preset. `name` keys the draws, so that applications with equal
// models do not share their luck. Seconds with the full budget, fractions of one with the small.
[[nodiscard]] AquatopePreset aquatope_preset(const WorkflowModel& model, std::string_view name, double slo_ms,
                                             const AquatopeSettings& settings);

}  // namespace sluice::plan
