#include "record/event_check.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "domain/limits.h"
#include "domain/validate.h"
#include "plan/workflow_model.h"
#include "record/well_formed.h"

namespace sluice::record {
namespace {

Error refused(std::string message) {
  return {ErrorCode::invalid, std::move(message)};
}

Status check_machine(InvokerId id, const NodeGroup& capacity) {
  if (std::int64_t{id.value()} >= limits::invokers_max || std::int64_t{capacity.vcpu} > limits::vcpu_max ||
      std::int64_t{capacity.gpus} > limits::gpus_per_invoker_max ||
      std::int64_t{capacity.slices_per_gpu} > limits::slices_per_gpu_max)
    return refused(str("invoker ", id.value(), " is beyond the limits of a cluster"));
  return Done{};
}

bool has_gpu(const NodeGroup& capacity, std::uint16_t gpu) {
  return gpu < capacity.gpus;
}

Status check_joined(const InvokerJoined& event) {
  if (const Status status = check_machine(event.id, event.capacity); !status) return status;
  for (const InstanceStatus& instance : event.instances) {
    const Level highest = std::max(instance.level, instance.moving_to.value_or(Level::none));
    if (highest == Level::device && !has_gpu(event.capacity, instance.gpu))
      return refused(
          str("invoker ", event.id.value(), " has an instance on GPU ", instance.gpu, " of ", event.capacity.gpus));
  }
  for (const RunningBatch& batch : event.running) {
    if (batch.positions.slices != 0 && !has_gpu(event.capacity, batch.positions.gpu))
      return refused(
          str("invoker ", event.id.value(), " runs a batch on GPU ", batch.positions.gpu, " of ", event.capacity.gpus));
  }
  return Done{};
}

Status check_fan_outs(const std::vector<FanOut>& fan_outs) {
  for (const FanOut& fan_out : fan_outs) {
    if (std::int64_t{fan_out.items} > limits::foreach_items_max)
      return refused(
          str("a foreach has ", fan_out.items, " items; at most ", limits::foreach_items_max, " are allowed"));
  }
  return Done{};
}

Status check_request(const RequestArrived& event) {
  return check_fan_outs(event.fan_outs);
}

Status check_results(const BatchFinished& event) {
  for (const InvocationResult& result : event.results) {
    if (const Status status = check_fan_outs(result.fan_outs); !status) return status;
  }
  return Done{};
}

Status can_be_planned(const Application& application) {
  const auto profiles = plan::make_profiles(application);
  if (!profiles) return profiles.error();
  if (const auto model = plan::make_model(application, *profiles); !model) return model.error();
  return Done{};
}

// The application an event is about, if it is about one that is there already.
std::optional<ApplicationId> application_of(const Event& event) {
  if (const auto* arrived = std::get_if<RequestArrived>(&event)) return arrived->application;
  if (const auto* announced = std::get_if<RequestAnnounced>(&event)) return announced->application;
  if (const auto* removed = std::get_if<ApplicationRemoved>(&event)) return removed->id;
  if (const auto* calls = std::get_if<CallsExpected>(&event)) return calls->application;
  if (const auto* changed = std::get_if<ProfileChanged>(&event)) return changed->application;
  if (const auto* known = std::get_if<BranchesKnown>(&event)) return known->application;
  if (const auto* made = std::get_if<PlansMade>(&event)) return made->application;
  return std::nullopt;
}

}  // namespace

EventCheck::EventCheck(const core::Scheduler& scheduler) : last_(scheduler.now()) {
  for (std::uint32_t a = 0; a < scheduler.applications(); ++a)
    applications_.push_back(scheduler.deployed(ApplicationId(a)));
}

Status EventCheck::check(Time at) {
  if (at < last_) return refused(str("time goes back from ", last_.count_ns(), " ns to ", at.count_ns(), " ns"));
  last_ = at;
  return Done{};
}

Status EventCheck::deployed(const ApplicationDeployed& event) {
  if (event.application == nullptr) return refused("an application is deployed without its content");
  const Application& application = *event.application;
  const std::string who = str("application '", printable(application.name), "': ");
  if (event.id.index() != applications_.size())
    return refused(str(who, "it has id ", event.id.value(), ", the next one is ", applications_.size()));
  if (!well_formed(application)) return refused(who + "its ids or numbers make no sense");
  if (const auto problems = validate(application); !problems.empty()) return refused(who + problems.front().message);
  if (const Status status = can_be_planned(application); !status) return refused(who + status.error().message);
  applications_.push_back(event.application);
  return Done{};
}

Status EventCheck::changed(const ProfileChanged& event) {
  std::shared_ptr<const Application>& known = applications_[event.application.index()];
  const std::string who = str("application '", printable(known->name), "': ");
  if (event.function.index() >= known->functions.size())
    return refused(str(who, "it has no function ", event.function.value()));
  if (event.profile == nullptr) return refused(who + "a profile is changed without its content");
  auto changed = std::make_shared<Application>(*known);
  changed->functions[event.function.index()].profile = *event.profile;
  if (const auto problems = validate(*changed); !problems.empty()) return refused(who + problems.front().message);
  if (const Status status = can_be_planned(*changed); !status) return refused(who + status.error().message);
  known = std::move(changed);
  return Done{};
}

Status EventCheck::check_branches(const BranchesKnown& event) const {
  const std::string who = str("application '", printable(applications_[event.application.index()]->name), "': ");
  for (const auto& [stage, share] : event.shares) {
    if (!(share >= 0 && share <= 1)) return refused(str(who, "stage '", printable(stage), "' has a share of ", share));
  }
  for (const auto& [stage, items] : event.items) {
    if (!(items >= 0 && items <= static_cast<double>(limits::foreach_items_max)))
      return refused(str(who, "stage '", printable(stage), "' has ", items, " items"));
  }
  return Done{};
}

Status EventCheck::check(const Observed& observed) {
  if (const Status status = check(observed.at); !status) return status;
  if (const auto application = application_of(observed.event);
      application && application->index() >= applications_.size())
    return refused(str("application ", application->value(), " was never deployed"));
  if (const auto* event = std::get_if<ApplicationDeployed>(&observed.event)) return deployed(*event);
  if (const auto* event = std::get_if<RequestArrived>(&observed.event)) return check_request(*event);
  if (const auto* event = std::get_if<BatchFinished>(&observed.event)) return check_results(*event);
  if (const auto* event = std::get_if<InvokerJoined>(&observed.event)) return check_joined(*event);
  if (const auto* event = std::get_if<ProfileChanged>(&observed.event)) return changed(*event);
  if (const auto* event = std::get_if<BranchesKnown>(&observed.event)) return check_branches(*event);
  if (const auto* event = std::get_if<InvokerChanged>(&observed.event))
    return check_machine(event->id, event->capacity);
  return Done{};
}

}  // namespace sluice::record
