#include "sim/oracle/tenants.h"

#include "base/text.h"

namespace sluice::sim {

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): called as the oracles are that have a state
std::string Tenants::started(const History& history, const StartBatch& batch) const {
  const std::string& tenant = history.application(batch.application).tenant;
  for (const BatchMember& member : batch.members) {
    const History::Call* call = history.call(member.request);
    if (call == nullptr)
      return str("batch ", batch.id.value(), " was started for request ", member.request.value(), ", which is over");
    const std::string& other = history.application(call->application).tenant;
    if (other != tenant)
      return str("batch ", batch.id.value(), " of tenant '", tenant, "' holds a request of tenant '", other, "'");
    if (history.stage_of(member).function != batch.function) return str("batch ", batch.id.value(), " mixes functions");
  }
  const History::Tenant& books = history.tenant_of(batch.application);
  if (!books.may_take(batch.configuration))
    return str("batch ", batch.id.value(), " takes more than the quota of tenant '", tenant, "' leaves");
  if (!batch.instance.valid()) return "";  // where everything is warm
  const History::Instance* instance = history.instance(batch.invoker, batch.instance);
  if (instance != nullptr && history.same_function(*instance, {batch.application, batch.function})) return "";
  return str("batch ", batch.id.value(), " of tenant '", tenant, "' runs on an instance of another function or tenant");
}

}  // namespace sluice::sim
