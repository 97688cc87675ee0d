// `sluice`, the default scheduler. For every queue, by the least slack first, it runs the configuration and place with
// the least expected cost, where a missed request has a price (plan/value_table.h); it waits for company while that
// saves more than it risks (batch_wait.h); it runs nothing that is worth less than a miss; and when more comes than the
// cluster can do in time it refuses early what it would have to give up later (sluice_admission.cpp). What each idea is
// worth is measured in docs/reproduce-esg.md; every one has a switch.
#pragma once
#include <memory>
#include <vector>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters (all our choice): miss_times 12, sigma 0.05, reserve_ms 3 and reserve_load_ms 14, load 0.9, vcpu_load 0.6,
// roomiest_load 0.88, wait_load 0.68, wait_gain 0.08, wait_gaps 4; switches wait, shed, drop, locality, foresee,
// learn and fair, all 1.
struct SluiceParts {
  std::unique_ptr<Admission> admission;
  std::unique_ptr<Dispatch> dispatch;
};
[[nodiscard]] SluiceParts make_sluice(const Parameters& parameters);

// What `sluice` derives from the plans of an application that is about to be deployed on these machines.
[[nodiscard]] Derive sluice_derives(const Parameters& parameters, const std::vector<NodeGroup>& machines);

}  // namespace sluice::policy
