// `sluice reproduce admission`: Table 4.1 of Ramkumar's thesis row by row, the admission that its chapter describes,
// and ours on the same input; then other loads, arrivals, workflows and wrong times. What the table really measures is
// in docs/reproduce-admission.md.
#pragma once
#include <vector>

#include "reproduce/esg_player.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

struct AdmissionOptions {
  bool full = false;  // also Poisson arrivals, pillars, and times that are off
};
// An error if a run breaks an invariant.
[[nodiscard]] Result<std::vector<Row>> reproduce_admission(const AdmissionOptions& options, const Means& means);

}  // namespace sluice::reproduce
