#include "sim/soak_world.h"

#include <algorithm>

#include "base/rng.h"
#include "base/text.h"
#include "policy/catalog.h"

namespace sluice::sim {
namespace {

Function random_function(Rng& rng, std::size_t index) {
  ProfileTable table;
  const double ms = rng.uniform(5, 200);
  const bool on_cpus = rng.chance(0.3);
  const bool on_gpus = !on_cpus || rng.chance(0.7);
  for (const int batch : {1, 2, 4}) {
    for (const int slices : {0, 1, 2, 4}) {
      if (slices == 0 ? !on_cpus : !on_gpus) continue;
      table.rows.push_back({.configuration = configuration(batch, 1 + batch / 2, slices),
                            .mean_ms = ms * (0.4 + 0.6 * batch) / (0.5 + 0.5 * slices),
                            .sd_ms = ms / 20});
    }
  }
  return {.name = str("f", index),
          .cpu = Body{},
          .gpu = Body{},
          .input_bytes = Bytes::mb(rng.uniform(0.01, 4)),
          .memory = Bytes::gb(rng.uniform(0.5, 3)),
          .cold_start = {Duration::ms(rng.uniform() * 50), Duration::ms(rng.uniform() * 300),
                         Duration::ms(rng.uniform() * 20)},
          .profile = std::move(table)};
}

// Stages read from earlier ones only, so that there are no cycles; joins, conditions, fan-outs, retries, handlers and
// waits come and go.
Workflow random_workflow(Rng& rng, std::size_t functions, std::size_t depth) {
  Workflow out;
  const std::size_t size = 1 + rng.below(6);
  for (std::uint32_t i = 0; i < size; ++i) {
    Stage stage{.name = str("s", i), .function = FunctionId(static_cast<FunctionId::rep>(rng.below(functions)))};
    for (std::uint32_t before = 0; before < i; ++before) {
      if (rng.chance(0.4)) stage.after.emplace_back(before);
    }
    if (stage.after.size() > 1 && rng.chance(0.4))
      stage.join = {Join::Kind::at_least, static_cast<std::uint32_t>(1 + rng.below(stage.after.size()))};
    if (rng.chance(0.2)) {
      stage.kind = Stage::Kind::pass;
      stage.function = FunctionId::none();
    } else if (rng.chance(0.2)) {
      stage.retry =
          Retry{.attempts = static_cast<std::uint32_t>(rng.below(3)), .interval = Duration::ms(rng.uniform() * 50)};
    }
    if (i > 0 && rng.chance(0.2))
      stage.when =
          Condition{.kind = Condition::Kind::compare, .comparison = {{StageId::none(), "x"}, Comparator::less, 1.0}};
    if (rng.chance(0.15)) stage.wait = Duration::ms(rng.uniform() * 30);
    if (stage.kind == Stage::Kind::run && rng.chance(0.15))
      stage.foreach = Foreach{.limit = static_cast<std::uint32_t>(rng.below(3))};
    if (depth > 0 && rng.chance(0.1)) {
      stage.kind = Stage::Kind::pass;
      stage.function = FunctionId::none();
      stage.retry.reset();
      stage.foreach = Foreach{.limit = static_cast<std::uint32_t>(rng.below(3)),
                              .body = {random_workflow(rng, functions, depth - 1)}};
    }
    if (rng.chance(0.05)) stage.idempotent = false;
    out.stages.push_back(std::move(stage));
  }
  // A handler for some errors.
  if (rng.chance(0.3)) {
    const StageId handler(static_cast<StageId::rep>(out.size()));
    out.stages.push_back({.name = "sorry", .function = FunctionId(0)});
    out.stages[rng.below(size)].catches.push_back({"all", handler});
  }
  return out;
}

Application random_application(Rng& rng, std::size_t index) {
  Application out{.name = str("a", index)};
  const std::size_t functions = 1 + rng.below(3);
  for (std::size_t f = 0; f < functions; ++f) out.functions.push_back(random_function(rng, f));
  out.objective.latency = Duration::ms(rng.uniform(50, 3000));
  out.workflow = random_workflow(rng, functions, 2);
  return out;
}

// Every second application has the functions of the first one: shared within a tenant, apart between two.
std::vector<Application> random_applications(Rng& rng, bool two_tenants) {
  std::vector<Application> out;
  const std::size_t count = (two_tenants ? 2 : 1) + rng.below(3);
  for (std::size_t a = 0; a < count; ++a) {
    Application application = random_application(rng, a);
    if (two_tenants) application.tenant = str("t", a % 2);
    if (a > 0 && rng.chance(0.5) && out.front().functions.size() >= application.functions.size())
      application.functions = out.front().functions;
    out.push_back(std::move(application));
  }
  return out;
}

Cluster random_cluster(Rng& rng) {
  NodeGroup group{.count = static_cast<std::uint32_t>(1 + rng.below(5)),
                  .vcpu = static_cast<std::uint32_t>(4 + rng.below(13)),
                  .gpus = static_cast<std::uint32_t>(1 + rng.below(2))};
  group.layout = static_cast<SliceLayout>(rng.below(3));
  Cluster out;
  out.nodes.push_back(group);
  return out;
}

// So little memory that functions have to give way to one another.
void squeeze(Rng& rng, Experiment& experiment) {
  Bytes largest;
  for (const Application& application : experiment.applications) {
    for (const Function& function : application.functions)
      largest = std::max(largest, function.memory.value_or(Bytes{}));
  }
  NodeGroup& group = experiment.cluster.nodes.front();
  group.gpu_memory = Bytes::gb(static_cast<double>(largest.count()) / 1e9 * rng.uniform(1.01, 3));
  if (rng.chance(0.5)) group.memory = Bytes::gb(static_cast<double>(largest.count()) / 1e9 * rng.uniform(1.01, 4));
}

Workload random_workload(Rng& rng) {
  Workload out;
  const bool burst = rng.chance(0.3);  // many events at the same instant
  if (burst)
    out.arrivals = UniformGap{Duration{}, Duration::ms(1)};
  else
    out.arrivals = Poisson{rng.uniform(2, 60)};
  out.requests = 20 + rng.below(120);
  out.warmup = 0;
  return out;
}

}  // namespace

SoakWorld draw_soak_world(std::uint64_t seed) {
  Rng rng = Rng::keyed(seed, 4242);
  SoakWorld out;
  Experiment& experiment = out.experiment;
  experiment.name = "soak";
  experiment.cluster = random_cluster(rng);
  out.traits.layout = experiment.cluster.nodes.front().layout;
  // By luck of its own, so that the rest of a world is the same with and without it.
  if (Rng own = Rng::keyed(seed, 4243); own.chance(0.4)) {
    out.traits.ahead = true;
    experiment.cluster.nodes.front().ahead = Duration::ms(own.chance(0.5) ? own.uniform(0.05, 2) : own.uniform(2, 200));
  }
  out.traits.two_tenants = rng.chance(0.4);
  experiment.applications = random_applications(rng, out.traits.two_tenants);
  out.traits.cold = rng.chance(0.6);
  if (out.traits.cold) {
    experiment.instances = InstanceMode::counted;
    out.begins_empty = rng.chance(0.5);
    out.traits.little_memory = rng.chance(0.5);
    if (out.traits.little_memory) squeeze(rng, experiment);
  }
  experiment.workload = random_workload(rng);
  const double sigma = rng.uniform() * 0.3;
  experiment.noise = Noise{.sigma = sigma, .straggler_probability = rng.chance(0.3) ? 0.05 : 0, .straggler_factor = 5};
  experiment.parameters["aquatope"] = {{"rounds", 3}, {"prospects", 64}};  // what it finds does not matter here
  const auto names = policy::scheduler_names();
  constexpr std::size_t kFirst = 11;  // later ones by luck of their own: four of five worlds are as they were before
  out.scheduler = names[rng.below(kFirst)];
  if (Rng own = Rng::keyed(seed, 4244); own.chance(0.2))
    out.scheduler = names[kFirst + own.below(names.size() - kFirst)];
  out.faults = Faults::draw(rng);
  out.traits.quotas = out.faults.quota_changes > 0;
  if (rng.chance(0.2)) {  // full means rejected or failed with a reason
    out.limits.requests_max = 5 + rng.below(20);
    out.limits.queue_max = 2 + rng.below(10);
  }
  return out;
}

}  // namespace sluice::sim
