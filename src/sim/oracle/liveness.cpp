#include "sim/oracle/liveness.h"

#include <algorithm>

#include "base/text.h"
#include "plan/workflow_model.h"
#include "policy/slice_positions.h"

namespace sluice::sim {
namespace {

// Policies may wait for company or for their turn as long as the objective, and once more where that was missed.
constexpr double kObjectives = 2;
constexpr Duration kAtLeast = Duration::s(2);
constexpr int kColdStarts = 10;                // those of other functions and of several attempts included
constexpr Duration kEver = Duration::s(3600);  // nobody waits longer, however busy the machines are

// Waits and pauses between attempts: nothing runs meanwhile, as it should be.
Duration pauses(const Workflow& workflow) {
  Duration out;
  for (const Stage& stage : workflow.stages) {
    out = out + stage.wait;
    if (stage.retry) {
      double each = stage.retry->interval.to_ms();
      for (std::uint32_t i = 0; i < stage.retry->attempts; ++i, each *= stage.retry->backoff)
        out = out + Duration::ms(each);
    }
    if (stage.foreach && !stage.foreach->body.empty()) out = out + pauses(stage.foreach->body.front());
  }
  return out;
}

void functions_of(const Workflow& workflow, std::vector<FunctionId>& out) {
  for (const Stage& stage : workflow.stages) {
    if (stage.kind == Stage::Kind::run && std::find(out.begin(), out.end(), stage.function) == out.end())
      out.push_back(stage.function);
    if (stage.foreach && !stage.foreach->body.empty()) functions_of(stage.foreach->body.front(), out);
  }
}

}  // namespace

void Liveness::deployed(const ApplicationDeployed& event) {
  const Application& application = *event.application;
  Wants wants{.functions = {}, .objective = application.objective.latency, .margin = pauses(application.workflow)};
  const auto profiles = plan::make_profiles(application);
  const auto model = plan::make_model(application, *profiles);
  std::vector<FunctionId> functions;
  functions_of(application.workflow, functions);
  for (const FunctionId id : functions) {
    const Function& function = application.function(id);
    Needs needs{.configurations = {}, .memory = function.memory.value_or(Bytes{})};
    for (const plan::ModelStage& stage : model->stages) {
      if (stage.function != id) continue;
      for (const plan::Candidate& c : stage.candidates) needs.configurations.push_back(c.configuration);
    }
    wants.margin = wants.margin + function.cold_start.total() * kColdStarts;
    if (!needs.configurations.empty()) wants.functions.push_back(std::move(needs));
  }
  wants_[event.id] = std::move(wants);
}

void Liveness::observed(const Event& event, Time now) {
  if (const auto* application = std::get_if<ApplicationDeployed>(&event)) deployed(*application);
  if (std::holds_alternative<LoadFailed>(event)) load_failed_ = now;
}

// The longest a machine that could hold the function has been running nothing; nothing: all of them are busy.
std::optional<Time> Liveness::idle_since(const History& history, const Needs& needs, const History::Tenant& tenant) {
  std::optional<Time> longest;
  for (const auto& [id, machine] : history.machines()) {
    if (!machine.up || machine.draining || machine.running > 0) continue;
    const auto holds = [&, &m = machine](const Configuration& c) {
      return policy::machine_holds(m.capacity, c) && tenant.may_ever_take(c) &&
             needs.memory <= (c.slices > 0 ? m.capacity.gpu_memory : m.capacity.memory);
    };
    if (std::none_of(needs.configurations.begin(), needs.configurations.end(), holds)) continue;
    if (!longest || machine.idle_since < *longest) longest = machine.idle_since;
  }
  return longest;
}

std::optional<Time> Liveness::all_idle_since(const History& history) {
  Time since;
  for (const auto& [id, machine] : history.machines()) {
    if (machine.up && machine.running > 0) return std::nullopt;
    if (machine.up) since = std::max(since, machine.idle_since);
  }
  return since;
}

std::optional<Time> Liveness::could_run_since(const History& history, ApplicationId application) const {
  const History::Tenant& tenant = history.tenant_of(application);
  std::optional<Time> since = std::max(load_failed_, tenant.quota_since);
  if (in_rotation_) {
    const auto idle = all_idle_since(history);
    if (!idle) return std::nullopt;
    since = std::max(*since, *idle);
  }
  if (tenant.vcpu_max || tenant.slices_max) {
    if (tenant.running > 0) return std::nullopt;
    since = std::max(*since, tenant.idle_since);
  }
  for (const Needs& needs : wants_.at(application).functions) {
    const auto idle = idle_since(history, needs, tenant);
    if (!idle) return std::nullopt;
    since = std::max(*since, *idle);
  }
  return since;
}

std::string Liveness::wrong(const History& history, Time now) const {
  std::map<ApplicationId, std::optional<Time>> could_run;  // all functions, since then
  for (const auto& [id, call] : history.calls()) {
    if (now > call.arrival + kEver) return str("request ", id.value(), " waits for ever");
    if (call.running > 0) continue;
    const Wants& wants = wants_.at(call.application);
    if (!could_run.contains(call.application)) could_run[call.application] = could_run_since(history, call.application);
    const auto since = could_run[call.application];
    if (!since) continue;
    const Duration bound =
        std::max(wants.objective, call.deadline - call.arrival) * kObjectives + kAtLeast + wants.margin;
    if (now > std::max(*since, call.quiet_since) + bound)
      return str("request ", id.value(), " could run for ", (now - std::max(*since, call.quiet_since)).to_ms(),
                 " ms and did not");
  }
  return "";
}

}  // namespace sluice::sim
