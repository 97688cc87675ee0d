#include "sim/describe.h"

#include <array>

#include "base/text.h"

namespace sluice::sim {
namespace {

std::string text(const ApplicationDeployed& e) {
  return str("ApplicationDeployed ", e.id.value(), " ", e.application->name);
}
std::string text(const ApplicationRemoved& e) {
  return str("ApplicationRemoved ", e.id.value());
}
std::string text(const RequestAnnounced& e) {
  return str("RequestAnnounced application ", e.application.value());
}
std::string text(const RequestArrived& e) {
  return str("RequestArrived ", e.id.value(), " of application ", e.application.value());
}
std::string text(const RequestCancelled& e) {
  return str("RequestCancelled ", e.id.value());
}
std::string text(const BatchExpired& e) {
  return str("BatchExpired ", e.id.value());
}
std::string text(const BatchFinished& e) {
  return str("BatchFinished ", e.id.value(), ", ", e.results.size(), " results");
}
std::string text(const BatchFailed& e) {
  return str("BatchFailed ", e.id.value(), ": ", e.error);
}
std::string text(const InstanceLoaded& e) {
  return str("InstanceLoaded ", e.instance.value(), " on invoker ", e.invoker.value());
}
std::string text(const LoadFailed& e) {
  return str("LoadFailed ", e.instance.value(), " on invoker ", e.invoker.value());
}
std::string text(const InstanceUnloaded& e) {
  return str("InstanceUnloaded ", e.instance.value(), " on invoker ", e.invoker.value());
}
std::string text(const InvokerJoined& e) {
  return str("InvokerJoined ", e.id.value(), " epoch ", e.epoch);
}
std::string text(const InvokerChanged& e) {
  return str("InvokerChanged ", e.id.value(), " vcpu ", e.capacity.vcpu);
}
std::string text(const InvokerDraining& e) {
  return str("InvokerDraining ", e.id.value());
}
std::string text(const InvokerLost& e) {
  return str("InvokerLost ", e.id.value(), " epoch ", e.epoch);
}
std::string text(const ObjectLost& e) {
  return str("ObjectLost of request ", e.request.value(), " on invoker ", e.invoker.value());
}
std::string text(const ProfileChanged& e) {
  return str("ProfileChanged of function ", e.function.value(), " of application ", e.application.value());
}
std::string text(const BranchesKnown& e) {
  return str("BranchesKnown of application ", e.application.value(), ": ", e.shares.size(), " shares, ", e.items.size(),
             " fan-outs");
}
std::string text(const QuotaChanged& e) {
  const auto most = [](std::optional<std::uint32_t> n) { return n ? str(*n) : std::string("any"); };
  return str("QuotaChanged of tenant ", e.tenant, ": ", most(e.vcpu), " vCPUs, ", most(e.slices), " slices");
}
std::string text(const PlansMade& e) {
  return str("PlansMade of application ", e.application.value(), ", revision ", e.revision);
}
std::string text(const CallsExpected& e) {
  return str("CallsExpected of application ", e.application.value(), e.expected ? "" : ": no more");
}

constexpr auto kKinds = std::to_array<std::string_view>(
    {"ApplicationDeployed", "ApplicationRemoved", "RequestAnnounced", "RequestArrived",  "RequestCancelled",
     "BatchExpired",        "BatchFinished",      "BatchFailed",      "InstanceLoaded",  "LoadFailed",
     "InstanceUnloaded",    "InvokerJoined",      "InvokerChanged",   "InvokerDraining", "InvokerLost",
     "ObjectLost",          "ProfileChanged",     "BranchesKnown",    "QuotaChanged",    "PlansMade",
     "CallsExpected"});
static_assert(kKinds.size() == std::variant_size_v<Event>);

}  // namespace

std::string_view event_kind(std::size_t index) {
  return kKinds[index];
}

std::string describe(const Event& event, Time at) {
  return str(static_cast<double>(at.count_ns()) / 1e6, " ms ",
             std::visit([](const auto& e) { return text(e); }, event));
}

}  // namespace sluice::sim
