// The random worlds of soak: clusters, functions, workflows, tenants, load, faults and a scheduler, all from one seed.
#pragma once
#include <cstdint>
#include <string>

#include "core/scheduler.h"
#include "domain/experiment.h"
#include "sim/faults.h"

namespace sluice::sim {

// What kind of world it is, so that soaking can say which kinds it met.
struct SoakTraits {
  bool cold = false;           // instances are counted, loaded and evicted
  bool little_memory = false;  // cold, and one GPU holds one to three of the functions
  bool two_tenants = false;
  bool quotas = false;  // tenants get and lose quotas of vCPUs and slices
  SliceLayout layout = SliceLayout::any;
  bool ahead = false;  // machines are sent the next batch while one computes
};

struct SoakWorld {
  Experiment experiment;
  std::string scheduler;
  Faults faults;
  core::Limits limits;
  bool begins_empty = false;
  SoakTraits traits;
};

[[nodiscard]] SoakWorld draw_soak_world(std::uint64_t seed);

}  // namespace sluice::sim
