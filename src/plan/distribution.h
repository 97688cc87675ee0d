// The distribution of a plan's end-to-end latency, to verify that it meets a percentile: percentiles do not add, but
// distributions convolve (series), take maxima (parallel) and order statistics (joins).
// Known caveats: stages are taken to be independent; in irregular regions parts that share predecessors are too, which
// errs on the late side; all waves of a fan-out take equally long; a stage behind a condition counts as if it ran.
#pragma once
#include <cstdint>
#include <span>

#include "plan/histogram.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

// What a stage of the plan does: `runs` false stands for one that is done already and takes no time.
struct StageChoice {
  bool runs = false;
  std::uint32_t candidate = 0;
};

// `choices` by stage of the model; bins of `width_ms` at the finest.
[[nodiscard]] Histogram distribution(const WorkflowModel& model, std::span<const StageChoice> choices, double width_ms);

}  // namespace sluice::plan
