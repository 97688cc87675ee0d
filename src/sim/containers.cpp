#include "sim/containers.h"

#include <algorithm>
#include <cmath>

#include "plan/workflow_model.h"
#include "policy/home.h"

namespace sluice::sim {
namespace {

constexpr double kReserve = 1.2;

double rate_of(const UniformGap& a) {
  return 2 / std::max(1e-9, (a.low + a.high).to_s());
}
double rate_of(const Poisson& a) {
  return a.rate;
}
double rate_of(const Renewal& a) {
  return a.rate;
}
double rate_of(const OnOff& a) {
  const double on = a.on.to_s(), off = a.off.to_s();
  return on + off > 0 ? (a.on_rate * on + a.off_rate * off) / (on + off) : a.on_rate;
}
double rate_of(const Diurnal& a) {
  return a.rate;
}
double rate_of(const Listed& a) {
  if (a.at.size() < 2) return 0;
  return static_cast<double>(a.at.size()) / std::max(1e-9, (a.at.back() - a.at.front()).to_s());
}
double rate_of(const Trace&) {
  return 0;
}

// A function of a tenant and the time its calls take together, per second.
struct Demand {
  const Application* application;
  ApplicationId id;
  FunctionId function;
  double busy = 0;
};

std::vector<Demand> demands(const Experiment& experiment) {
  const double rate = mean_rate(experiment.workload.arrivals);
  double weights = 0;
  const auto weight = [&](const Application& a) {
    if (experiment.workload.mix.empty()) return 1.0;
    const auto it = experiment.workload.mix.find(a.name);
    return it == experiment.workload.mix.end() ? 0.0 : it->second;
  };
  for (const Application& a : experiment.applications) weights += weight(a);
  std::vector<Demand> out;
  for (std::size_t i = 0; i < experiment.applications.size(); ++i) {
    const Application& application = experiment.applications[i];
    const auto profiles = plan::make_profiles(application);
    const auto model = plan::make_model(application, *profiles);
    for (const plan::ModelStage& stage : model->stages) {
      if (!stage.function.valid()) continue;
      const Function& function = application.function(stage.function);
      const auto same = [&](const Demand& d) {
        return d.application->tenant == application.tenant && d.application->function(d.function) == function;
      };
      auto it = std::find_if(out.begin(), out.end(), same);
      if (it == out.end()) {
        it = out.insert(out.end(), {&application, ApplicationId(static_cast<ApplicationId::rep>(i)), stage.function});
      }
      it->busy += rate * weight(application) / weights * plan::least(stage.candidates).ms / 1000;
    }
  }
  return out;
}

}  // namespace

double mean_rate(const Arrivals& arrivals) {
  return std::visit([](const auto& a) { return rate_of(a); }, arrivals);
}

std::vector<std::vector<InstanceStatus>> containers_at_start(const Experiment& experiment,
                                                             std::span<const NodeGroup> machines) {
  std::vector<std::vector<InstanceStatus>> out(machines.size());
  std::vector<std::vector<Bytes>> free;  // of every GPU
  for (const NodeGroup& m : machines) free.emplace_back(m.gpus, m.gpu_memory);
  std::uint64_t next = 0;
  for (const Demand& demand : demands(experiment)) {
    const Function& function = demand.application->function(demand.function);
    const Bytes memory = function.memory.value_or(Bytes{});
    const policy::HomeOrder home(demand.application->tenant, function.name,
                                 static_cast<std::uint32_t>(machines.size()));
    const auto count = static_cast<std::uint32_t>(std::ceil(kReserve * demand.busy));
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t machine = home[k % static_cast<std::uint32_t>(machines.size())];
      const auto gpu = std::max_element(free[machine].begin(), free[machine].end());
      if (gpu == free[machine].end() || *gpu < memory) continue;
      *gpu -= memory;
      out[machine].push_back({.id = InstanceId(next++),
                              .application = demand.id,
                              .function = demand.function,
                              .level = Level::device,
                              .gpu = static_cast<std::uint16_t>(gpu - free[machine].begin())});
    }
  }
  return out;
}

}  // namespace sluice::sim
