#include "sim/deploying.h"

#include <algorithm>

#include "base/text.h"
#include "plan/workflow_model.h"
#include "policy/slice_positions.h"
#include "sim/rules.h"

namespace sluice::sim {
namespace {

bool fits_somewhere(const Cluster& cluster, const plan::ModelStage& stage, Bytes memory) {
  if (!stage.function.valid()) return true;
  return std::any_of(stage.candidates.begin(), stage.candidates.end(), [&](const plan::Candidate& c) {
    return std::any_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const NodeGroup& m) {
      NodeGroup machine = m;
      if (machine.slices_per_gpu == 0) machine.slices_per_gpu = 7;  // `auto`
      return memory <= (c.configuration.slices > 0 ? m.gpu_memory : m.memory) &&
             policy::machine_holds(machine, c.configuration);
    });
  });
}

// The same function of several applications of a tenant is one.
void number_functions(WorldState& world) {
  std::vector<std::pair<std::string, const Function*>> known;  // with its tenant
  std::vector<Bytes> memory;
  std::vector<std::string> tenants;
  for (Deployment& d : world.deployments) {
    const auto tenant = std::find(tenants.begin(), tenants.end(), d.application->tenant);
    d.tenant = TenantId(static_cast<TenantId::rep>(tenant - tenants.begin()));
    if (tenant == tenants.end()) tenants.push_back(d.application->tenant);
    for (const Function& function : d.application->functions) {
      const auto same = [&](const auto& k) { return k.first == d.application->tenant && *k.second == function; };
      const auto it = std::find_if(known.begin(), known.end(), same);
      d.functions.push_back(static_cast<std::uint32_t>(it - known.begin()));
      if (it != known.end()) continue;
      known.emplace_back(d.application->tenant, &function);
      memory.push_back(function.memory.value_or(Bytes{}));
    }
  }
  if (world.experiment.instances == InstanceMode::warm) world.machines.keep_warm(std::move(memory));
}

}  // namespace

Status deploy(WorldState& world) {
  for (std::size_t i = 0; i < world.experiment.applications.size(); ++i) {
    auto application = std::make_shared<Application>(as_deployed(world.experiment, world.experiment.applications[i]));
    const auto named = [&](const Error& error) {
      return Error{error.code, str("application '", application->name, "': ", error.message)};
    };
    auto profiles = plan::make_profiles(*application);
    if (!profiles) return named(profiles.error());
    const auto model = plan::make_model(*application, *profiles);
    if (!model) return named(model.error());
    for (const plan::ModelStage& stage : model->stages) {
      const Bytes memory = stage.function.valid() && world.experiment.instances == InstanceMode::counted
                               ? application->function(stage.function).memory.value_or(Bytes{})
                               : Bytes{};
      if (!fits_somewhere(world.experiment.cluster, stage, memory)) {
        const Configuration& least = plan::least(stage.candidates).configuration;
        return named({ErrorCode::too_large,
                      str("no machine of the cluster fits stage '", stage.name, "'; it needs at least ", least.vcpu,
                          " vCPU, ", least.slices, " vGPU", memory > Bytes{} ? str(" and ", to_string(memory)) : "")});
      }
    }
    Deployment d{.id = ApplicationId(static_cast<ApplicationId::rep>(i)), .application = application};
    d.objective = application->objective.latency = objective_of(world.experiment, *application, *model);
    for (const plan::ModelStage& stage : model->stages) d.stages.push_back(stage.name);
    d.profiles = std::move(profiles).value();
    world.result.applications.push_back({.application = application->name});
    world.deployments.push_back(std::move(d));
  }
  number_functions(world);
  world.scheduler = world.fresh_scheduler();
  return Done{};
}

std::shared_ptr<const Application> believed(const WorldState& world, const Deployment& d) {
  if (world.options.faults.profile_wrong <= 0) return d.application;
  auto out = std::make_shared<Application>(*d.application);
  for (std::size_t f = 0; f < out->functions.size(); ++f) {
    Rng draw = Rng::keyed(world.options.seed, 9000, d.functions[f]);
    double factor = 1 + world.options.faults.profile_wrong * draw.uniform();
    if (draw.chance(0.5)) factor = 1 / factor;
    if (auto* model = std::get_if<ProfileModel>(&out->functions[f].profile)) {
      model->exec = model->exec * factor;
      model->noise = 0;
    } else if (auto* table = std::get_if<ProfileTable>(&out->functions[f].profile)) {
      for (ProfileRow& row : table->rows) {
        row.mean_ms *= factor;
        row.sd_ms = 0;
      }
    }
  }
  return out;
}

}  // namespace sluice::sim
