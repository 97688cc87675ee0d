#include "gateway/models.h"

#include "base/text.h"
#include "gateway/http_reply.h"

namespace sluice::gateway {

ModelLookup look_up(const live::Snapshot& snapshot, const ModelPath& path) {
  const live::Model* model = snapshot.find(path.tenant, path.name);
  if (model == nullptr) {
    return {nullptr, error_reply(400, str("Request for unknown model: '", printable(path.name), "' is not found"))};
  }
  if (!path.version.empty() && path.version != str(model->version)) {
    return {nullptr, error_reply(404, str("Request for unknown model: '", path.name, "' version ",
                                          printable(path.version), " is not found"))};
  }
  return {model, {}};
}

ModelLookup look_up_ready(const live::Snapshot& snapshot, const ModelPath& path) {
  ModelLookup found = look_up(snapshot, path);
  if (found.model == nullptr || found.model->state == live::ModelState::ready) return found;
  if (path.version.empty()) {
    return {nullptr, error_reply(404, str("Request for unknown model: '", path.name, "' has no available versions"))};
  }
  return {nullptr, error_reply(503, str("Request for unknown model: '", path.name, "' version ", found.model->version,
                                        " is not at ready state"))};
}

std::string_view name_of(live::ModelState state) {
  return state == live::ModelState::ready ? "READY" : "UNAVAILABLE";
}

}  // namespace sluice::gateway
