// Offered: what an experiment asks of any scheduler, as the bounds see it: who comes when and is due when, through
// which functions, and how a batch of each function can run at best. Known to nobody who schedules.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/experiment.h"
#include "plan/workflow_model.h"

namespace sluice::reproduce {

struct OfferedRequest {
  double at_ms = 0, due_ms = 0;
  std::uint32_t application = 0;
};

// How a batch may run: its mean time and what it holds meanwhile.
struct Way {
  double ms = 0;
  double vcpu = 0, slices = 0;
};

struct OfferedFunction {
  // By members - 1: the ways of a batch with that many or more, none better in every respect than another. Not empty.
  std::vector<std::vector<Way>> ways;
  double delay_ms = 0, copy_ms = 0;  // the least for the inputs of a batch, and for those of each invocation
  [[nodiscard]] double transfer_ms(std::size_t invocations) const {
    return delay_ms + copy_ms * static_cast<double>(invocations);
  }
  [[nodiscard]] double fastest_ms(std::size_t members) const;
};

struct OfferedStage {
  std::uint32_t function = 0;
  std::uint64_t id = 0;  // of the workflow: luck is keyed by it
};

struct Offered {
  std::vector<OfferedFunction> functions;
  std::vector<std::vector<OfferedStage>> chains;  // by application
  std::vector<plan::WorkflowModel> models;        // by application
  std::vector<double> objective_ms;               // by application
  std::vector<OfferedRequest> requests;           // by id
  std::uint64_t warmup = 0;                       // the first so many requests are not measured
  std::uint64_t seed = 1;
  double sigma = 0;
  std::optional<Noise> noise;
  Prices prices;  // the lowest of the applications
  bool bills_transfer = true;
  double slices = 0, vcpus = 0;  // of the cluster

  [[nodiscard]] const std::vector<OfferedStage>& stages_of(std::size_t request) const {
    return chains[requests[request].application];
  }
  // What the mean time of a batch is multiplied with if this request is its oldest member.
  [[nodiscard]] double luck(std::size_t request, const OfferedStage& stage) const;
};

// An error if the experiment cannot be bounded: applications that are not chains of functions, profiles with different
// spreads and no `noise`.
[[nodiscard]] Result<Offered> make_offered(const Experiment& experiment, std::uint64_t seed,
                                           std::string_view trace_text = {});

}  // namespace sluice::reproduce
