#include "sim/soak.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "policy/catalog.h"
#include "sim/world.h"

namespace sluice::sim {
namespace {

Function random_function(Rng& rng, std::size_t index) {
  ProfileTable table;
  const double ms = rng.uniform(5, 200);
  for (const int batch : {1, 2, 4}) {
    for (const int slices : {1, 2, 4}) {
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
      if (rng.chance(0.4)) stage.after.push_back(StageId(before));
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

Experiment random_experiment(Rng& rng) {
  Experiment out{.name = "soak"};
  NodeGroup group{.count = static_cast<std::uint32_t>(1 + rng.below(5)),
                  .vcpu = static_cast<std::uint32_t>(4 + rng.below(13)),
                  .gpus = static_cast<std::uint32_t>(1 + rng.below(2))};
  group.layout = static_cast<SliceLayout>(rng.below(3));
  out.cluster.nodes.push_back(group);
  const std::size_t applications = 1 + rng.below(3);
  for (std::size_t a = 0; a < applications; ++a) {
    Application application{.name = str("a", a)};
    const std::size_t functions = 1 + rng.below(3);
    for (std::size_t f = 0; f < functions; ++f) application.functions.push_back(random_function(rng, f));
    application.objective.latency = Duration::ms(rng.uniform(50, 3000));
    application.workflow = random_workflow(rng, functions, 2);
    out.applications.push_back(std::move(application));
  }
  const bool burst = rng.chance(0.3);  // many events at the same instant
  if (burst)
    out.workload.arrivals = UniformGap{Duration{}, Duration::ms(1)};
  else
    out.workload.arrivals = Poisson{rng.uniform(2, 60)};
  out.workload.requests = 20 + rng.below(120);
  out.workload.warmup = 0;
  out.noise =
      Noise{.sigma = rng.uniform() * 0.3, .straggler_probability = rng.chance(0.3) ? 0.05 : 0, .straggler_factor = 5};
  out.parameters["aquatope"] = {{"rounds", 3}, {"prospects", 64}};  // what it finds does not matter here
  return out;
}

}  // namespace

RunResult soak(std::uint64_t seed, std::optional<std::uint64_t> until_event) {
  Rng rng = Rng::keyed(seed, 4242);
  const Experiment experiment = random_experiment(rng);
  const auto names = policy::scheduler_names();
  const auto name = names[rng.below(names.size())];
  const Faults faults = Faults::draw(rng);
  core::Limits limits;
  if (rng.chance(0.2)) {  // full means rejected or failed with a reason
    limits.requests_max = 5 + rng.below(20);
    limits.queue_max = 2 + rng.below(10);
  }
  auto world = World::make(experiment, {.scheduler = std::string(name),
                                        .seed = seed,
                                        .limits = limits,
                                        .faults = faults,
                                        .check_every_event = true,
                                        .until_event = until_event});
  CHECK_MSG(world.ok(), world.error().message);
  return (*world)->run();
}

}  // namespace sluice::sim
