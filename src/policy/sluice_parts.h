// The two halves of `sluice` (sluice.h) and what both read.
#pragma once
#include <memory>

#include "policy/policy.h"
#include "policy/sluice_model.h"
#include "policy/sluice_state.h"

namespace sluice::policy {

struct SluiceSettings {
  explicit SluiceSettings(const Parameters& parameters)
      : model{.miss_times = parameter_or(parameters, "miss_times", 12),
              .sigma = parameter_or(parameters, "sigma", 0.05),
              .reserve_ms = parameter_or(parameters, "reserve_ms", 3)},
        wait(parameter_or(parameters, "wait", 1) != 0),
        shed(parameter_or(parameters, "shed", 1) != 0),
        drop(parameter_or(parameters, "drop", 1) != 0),
        locality(parameter_or(parameters, "locality", 1) != 0),
        fair(parameter_or(parameters, "fair", 1) != 0),
        foresee(parameter_or(parameters, "foresee", 1) != 0),
        roomiest_load(parameter_or(parameters, "roomiest_load", 0.88)),
        reserve_load_ms(parameter_or(parameters, "reserve_load_ms", 14)),
        load(parameter_or(parameters, "load", 0.9)),
        vcpu_load(parameter_or(parameters, "vcpu_load", 0.6)),
        wait_load(parameter_or(parameters, "wait_load", 0.68)),
        wait_gain(parameter_or(parameters, "wait_gain", 0.08)),
        wait_gaps(parameter_or(parameters, "wait_gaps", 4)) {}

  SluiceOptions model;
  bool wait, shed, drop, locality, fair, foresee;
  double roomiest_load;    // up to this load the machine with the most room is taken, so that later stages can grow
                           // there; then the one with just enough, so that wide shares find a place at all
  double reserve_load_ms;  // more reserve for every stage that follows, when the cluster is full
  double load;             // of all slices that may be promised to requests
  double vcpu_load;        // likewise of all vCPUs; less, since a batch of many on one vCPU takes long, and what has
                           // only that time left is run alone or given up (docs/bench-live.md)
  double wait_load;        // from this load on waiting must save more, up to wait_gain of the cost
  double wait_gain;
  double wait_gaps;  // nobody is waited for longer than so many mean gaps between arrivals
};

// Of the machines that can be used, each shape once.
[[nodiscard]] std::vector<NodeGroup> shapes_in(const View& view);
// Brings what is known of the whole cluster up to date, if it is some milliseconds old.
void look_at_cluster(const View& view, SluiceState& state);
// What a request that has ended teaches about waiting and about the price of being late.
void learn_from_end(const View& view, const Inside& request, bool fair, SluiceState& state);
// Milliseconds that one request of an application takes.
[[nodiscard]] Taken request_taken_ms(const View& view, const SluiceState& state, ApplicationId application);

[[nodiscard]] std::unique_ptr<Admission> make_sluice_admission(const SluiceSettings& settings,
                                                               std::shared_ptr<SluiceState> state);
[[nodiscard]] std::unique_ptr<Dispatch> make_sluice_dispatch(const SluiceSettings& settings,
                                                             std::shared_ptr<SluiceState> state);

}  // namespace sluice::policy
