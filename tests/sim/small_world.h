// Small random worlds outside of any paper's settings: profiles with batches or shares missing, other prices, kinds of
// devices, layouts of slices, machines of several sizes, warm and cold.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "base/text.h"
#include "domain/experiment.h"
#include "plan/evaluate.h"
#include "plan/workflow_model.h"
#include "policy/slice_positions.h"

namespace sluice::sim::small_world {

template <class T>
T pick(Rng& rng, std::initializer_list<T> from) {
  return *(from.begin() + static_cast<std::ptrdiff_t>(rng.below(from.size())));
}

// More vCPUs and slices are faster, larger batches take longer.
inline double time_of(double base, const Configuration& c) {
  const double share = c.slices > 0 ? 0.2 + 0.8 * c.slices : 0.3;
  return base * (0.4 + 0.6 * c.batch) / (share * (0.8 + 0.2 * c.vcpu));
}

inline Function random_function(Rng& rng, std::size_t index) {
  ProfileTable table;
  const double base = rng.uniform(2, 60);
  const bool one_only = rng.chance(0.2);
  const bool no_single = rng.chance(0.3);
  const double kept = rng.uniform(0.1, 1);
  const int devices = static_cast<int>(rng.below(4));  // CPU only, any GPU, one kind of GPU, all
  for (const int batch : {1, 2, 4, 7, 16}) {
    if (no_single && batch == 1) continue;
    for (const int vcpu : {1, 2, 8}) {
      for (const char* device : {"cpu", "gpu", "h200"}) {
        const DeviceKind kind{std::string_view(device)};
        if (devices == 0 && !kind.is_cpu()) continue;
        if (devices == 1 && kind != DeviceKind::gpu()) continue;
        if (devices == 2 && kind != DeviceKind("h200")) continue;
        for (const int slices : {1, 2, 3, 4, 7}) {
          if (kind.is_cpu() && slices > 1) continue;
          if (!rng.chance(kept) && !table.rows.empty()) continue;
          Configuration c = configuration(batch, vcpu, kind.is_cpu() ? 0 : slices);
          c.device = kind;
          table.rows.push_back({.configuration = c, .mean_ms = time_of(base, c), .sd_ms = time_of(base, c) / 50});
        }
      }
    }
  }
  if (one_only) table.rows = {table.rows[rng.below(table.rows.size())]};
  return {.name = str("f", index),
          .cpu = Body{},
          .gpu = Body{},
          .input_bytes = Bytes::mb(rng.uniform(0.01, 1)),
          .memory = Bytes::gb(rng.uniform(0.1, 1)),
          .cold_start = {Duration::ms(rng.uniform() * 50), Duration::ms(rng.uniform() * 300),
                         Duration::ms(rng.uniform() * 20)},
          .profile = std::move(table)};
}

inline Cluster random_cluster(Rng& rng) {
  Cluster out;
  const std::size_t groups = 1 + rng.below(3);
  for (std::size_t g = 0; g < groups; ++g) {
    NodeGroup group{.count = rng.chance(0.1) ? 16u : static_cast<std::uint32_t>(1 + rng.below(2)),
                    .vcpu = pick<std::uint32_t>(rng, {1, 2, 4, 16, 32}),
                    .gpus = static_cast<std::uint32_t>(rng.below(3)),
                    .slices_per_gpu = pick<std::uint32_t>(rng, {1, 4, 7, 7, 8})};
    group.device = pick(rng, {DeviceKind::gpu(), DeviceKind("h200"), DeviceKind("a100")});
    group.layout = static_cast<SliceLayout>(rng.below(3));
    out.nodes.push_back(group);
  }
  return out;
}

// The least time a request needs on these machines, moving its inputs at every stage included, and loading every
// function where nothing is loaded; nothing if some stage runs nowhere.
inline std::optional<double> fastest_ms(const Application& application, const Cluster& cluster, bool cold) {
  const auto profiles = plan::make_profiles(application);
  const auto model = plan::make_model(application, *profiles);
  std::vector<plan::StageTerms> terms;
  for (const plan::ModelStage& stage : model->stages) {
    double best = INFINITY;
    for (const plan::Candidate& c : stage.candidates) {
      for (const NodeGroup& machine : cluster.nodes) {
        if (c.configuration.batch == 1 && policy::machine_holds(machine, c.configuration)) best = std::min(best, c.ms);
      }
    }
    if (std::isinf(best)) return std::nullopt;
    const ColdStart& load = application.function(stage.function).cold_start;
    const double load_ms = (load.process + load.host + load.device).to_ms();
    terms.push_back({best + 25 + (cold ? load_ms : 0), 0});
  }
  return plan::evaluate(model->tree, terms).ms;
}

inline Application random_application(Rng& rng, std::size_t index) {
  Application out{.name = str("a", index)};
  const std::size_t functions = 1 + rng.below(3);
  for (std::size_t f = 0; f < functions; ++f) out.functions.push_back(random_function(rng, f));
  const std::size_t stages = 1 + rng.below(4);
  for (std::uint32_t s = 0; s < stages; ++s) {
    Stage stage{.name = str("s", s), .function = FunctionId(static_cast<FunctionId::rep>(rng.below(functions)))};
    if (s > 0) stage.after.push_back(StageId(rng.chance(0.7) ? s - 1 : 0));  // a chain, or a fork
    out.workflow.stages.push_back(std::move(stage));
  }
  const double factor = std::pow(10, rng.uniform(-3, 3));
  out.prices = {.vcpu_hour = 0.034 * factor, .vgpu_hour = 0.67 * factor};
  return out;
}

constexpr double kSpare = 1.4;  // the least objective, in times the least time that a request needs

struct Drawn {
  Experiment experiment;
  bool idle = false;            // one request at a time, with time to spare
  bool idle_from_cold = false;  // also where all that the request needs is loaded first
};

// REQUIRES: a cluster and applications that fit each other are found in the end; they are.
inline Drawn random_world(std::uint64_t seed) {
  Rng rng = Rng::keyed(seed, 1313);
  Drawn out;
  Experiment& e = out.experiment;
  e.name = str("catalog ", seed);
  double longest_ms = 0;
  while (e.applications.empty()) {
    e.cluster = random_cluster(rng);
    const std::size_t applications = 1 + rng.below(3);
    longest_ms = 0;
    for (std::size_t a = 0; a < applications; ++a) {
      Application application = random_application(rng, e.applications.size());
      const auto ms = fastest_ms(application, e.cluster, false);
      if (!ms) continue;
      application.objective.latency = Duration::ms(*ms * rng.uniform(kSpare, 12));
      longest_ms = std::max(longest_ms, application.objective.latency.to_ms());
      e.applications.push_back(std::move(application));
    }
  }
  out.idle = rng.chance(0.5);
  out.idle_from_cold =
      out.idle && std::ranges::all_of(e.applications, [&](const Application& application) {
        return application.objective.latency.to_ms() > kSpare * *fastest_ms(application, e.cluster, true);
      });
  if (out.idle)
    e.workload.arrivals = UniformGap{Duration::ms(longest_ms * 1.5), Duration::ms(longest_ms * 3)};
  else
    e.workload.arrivals = Poisson{rng.uniform(0.2, 20) * 1000 / longest_ms};
  e.workload.requests = 12;
  e.workload.warmup = 0;
  e.instances = rng.chance(0.5) ? InstanceMode::warm : InstanceMode::counted;
  e.parameters["aquatope"] = {{"rounds", 1}, {"prospects", 16}};  // what it finds does not matter here
  return out;
}

}  // namespace sluice::sim::small_world
