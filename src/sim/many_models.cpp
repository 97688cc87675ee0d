#include "sim/many_models.h"

#include <algorithm>

#include "base/rng.h"
#include "base/text.h"
#include "profile/portable_math.h"

namespace sluice::sim {
namespace {

constexpr double kMsPerGb = 90;  // of execution on one vCPU and one slice

Function model_of(const std::string& name, double gb, const ManyModels& world) {
  const Duration load = world.load * gb;
  return {.name = name,
          .cpu = Body{},
          .gpu = Body{},
          .input_bytes = Bytes::mb(0.5),
          .memory = Bytes::gb(gb),
          .cold_start = {load * 0.2, load * 0.7, load * 0.1},
          .profile = ProfileModel{.exec = Duration::ms(kMsPerGb * gb),
                                  .floor = 0.3,
                                  .cpu = 0.1,
                                  .gpu = 0.6,
                                  .beta = 0.75,
                                  .gamma = 0.85,
                                  .batch = {1, 2, 4, 8},
                                  .vcpu = {1, 2, 4},
                                  .slices = {1, 2, 4, 7},
                                  .noise = 0.05}};
}

double models_gb(const ManyModels& world) {
  return static_cast<double>(world.device_memory.count()) / 1e9 * world.pressure;
}

}  // namespace

Experiment many_models(const ManyModels& world) {
  Experiment out{.name = "many models"};
  Rng rng = Rng::keyed(world.seed, 2718);
  out.cluster.nodes.push_back({.count = world.machines,
                               .vcpu = 16,
                               .memory = world.host_copies ? Bytes::gb(2 * models_gb(world)) : Bytes::gb(0.1),
                               .gpus = 1,
                               .gpu_memory = Bytes(world.device_memory.count() / world.machines)});
  const double mean_gb = models_gb(world) / (world.applications * world.stages);
  for (std::uint32_t a = 0; a < world.applications; ++a) {
    Application application{.name = str("a", a)};
    for (std::uint32_t s = 0; s < world.stages; ++s) {
      application.functions.push_back(model_of(str("f", s), mean_gb * rng.uniform(1.0 / 3, 5.0 / 3), world));
      Stage stage{.name = str("s", s), .function = FunctionId(s)};
      if (s > 0) stage.after.emplace_back(s - 1);
      application.workflow.stages.push_back(std::move(stage));
    }
    application.objective.latency = world.objective;
    out.workload.mix[application.name] = 1 / profile::portable_pow(a + 1.0, world.popularity);
    out.applications.push_back(std::move(application));
  }
  out.workload.arrivals = Poisson{world.rate};
  out.workload.requests = world.requests;
  out.workload.warmup = world.warmup;
  out.noise = Noise{.sigma = 0.05, .straggler_probability = world.straggler_probability, .straggler_factor = 4};
  out.instances = InstanceMode::counted;
  out.parameters["aquatope"] = {{"rounds", 1}, {"prospects", 16}};  // its presets do not matter here
  return out;
}

ManyModels random_many_models(std::uint64_t seed) {
  Rng rng = Rng::keyed(seed, 1618);
  ManyModels out{.seed = seed};
  out.applications = static_cast<std::uint32_t>(20 + rng.below(181));
  out.stages = static_cast<std::uint32_t>(1 + rng.below(4));
  out.machines = static_cast<std::uint32_t>(2 + rng.below(7));
  const double gb = rng.uniform(0.4, 1.6);  // of a model, on average
  out.pressure = rng.uniform(1, 4);
  const double all = gb * out.applications * out.stages;
  // No model may be larger than a GPU.
  out.device_memory = Bytes::gb(std::max(all / out.pressure, gb * 2 * out.machines));
  out.pressure = all * 1e9 / static_cast<double>(out.device_memory.count());
  out.host_copies = rng.chance(0.7);
  out.popularity = rng.chance(0.5) ? rng.uniform(0.5, 1.2) : 0;
  out.load = Duration::ms(rng.uniform(300, 2000));
  const double work_ms = kMsPerGb * gb * out.stages, load_ms = out.load.to_ms() * gb;
  const double most = 7 * out.machines * 1000 / work_ms;  // requests per second, one slice each
  out.rate = most * 0.8 / profile::portable_pow(80, rng.uniform());
  out.objective = Duration::ms(1.5 * work_ms + rng.uniform(1.2, 4) * load_ms);
  return out;
}

std::string describe(const ManyModels& world) {
  return str(world.applications, " applications of ", world.stages, ", models ", world.pressure, " x device memory of ",
             to_string(world.device_memory), " on ", world.machines, " machines, ",
             world.host_copies ? "copies on hosts" : "no copies", ", ", world.rate, " requests/s, load ",
             to_string(world.load), "/GB, objective ", to_string(world.objective), ", popularity ", world.popularity);
}

}  // namespace sluice::sim
