// Aquatope (ASPLOS 2023): every stage has one configuration, found offline (plan/rivals/aquatope.h), and every batch
// uses it. Batches start at once with what waits and are placed like ESG's; what fits nowhere waits for the next event.
// A preset is made when a queue of its application is first seen, for the SLO of that request, and never again; it is
// part of the state, so that a scheduler that loads a save does not search once more.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/rivals/aquatope.h"
#include "policy/policy.h"

namespace sluice::policy {

// The candidate of every stage of the application's model, by "tenant/application" and SLO in whole milliseconds.
using AquatopePresets = std::map<std::pair<std::string, std::int64_t>, std::vector<std::uint32_t>>;

// Parameters: full (0; 1: the budget of ESG's evaluation), and each of plan::AquatopeSettings by its name.
[[nodiscard]] plan::AquatopeSettings aquatope_settings(const Parameters& parameters);

// One entry, for the application as it will be deployed and its model. Whoever plays many runs makes the presets of all
// applications once and hands them in: searching takes seconds, the result is always the same.
[[nodiscard]] AquatopePresets::value_type aquatope_preset(const Application& application,
                                                          const plan::WorkflowModel& model, Duration slo,
                                                          const Parameters& parameters);

// `known`: looked up before searching; they must have been made with the same parameters.
[[nodiscard]] std::unique_ptr<Dispatch> make_aquatope(const Parameters& parameters,
                                                      std::shared_ptr<const AquatopePresets> known = nullptr);

}  // namespace sluice::policy
