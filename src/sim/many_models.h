// Many models, little memory: a platform with more models than its GPUs hold, most of them called rarely. Made for
// tests and benchmarks of loading (tests/sim/many_models_test.cpp, bench/many_models_bench.cpp).
#pragma once
#include <cstdint>
#include <string>

#include "domain/experiment.h"

namespace sluice::sim {

struct ManyModels {
  std::uint32_t applications = 40;
  std::uint32_t stages = 3;  // of each application, one after the other, each with a function of its own
  std::uint32_t machines = 4;
  Bytes device_memory = Bytes::gb(60);  // of all machines
  double pressure = 1.8;                // memory of all models ÷ device memory
  bool host_copies = false;             // the hosts have room for every model; else for none
  double popularity = 0;                // weight of the i-th application: 1 / (i + 1)^popularity
  double rate = 4;                      // requests per second
  Duration load = Duration::ms(1100);   // per GB of a model, from nothing to the device; a tenth of it from the host
  Duration objective = Duration::s(4);
  double straggler_probability = 0;  // of times four
  std::uint64_t requests = 1'200, warmup = 200;
  std::uint64_t seed = 1;
};

// Models have a third to five thirds of the mean size, and times in proportion to it.
[[nodiscard]] Experiment many_models(const ManyModels& world);

// 20 to 200 applications of one to four stages, models of one to four times the device memory, from a trickle to four
// fifths of what the slices can do, with and without copies on the host.
[[nodiscard]] ManyModels random_many_models(std::uint64_t seed);

// What is in it, in a line.
[[nodiscard]] std::string describe(const ManyModels& world);

}  // namespace sluice::sim
