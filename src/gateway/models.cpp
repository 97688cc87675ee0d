#include "gateway/models.h"

#include "base/text.h"
#include "gateway/http_reply.h"

namespace sluice::gateway {

ModelLookup look_up(const live::Snapshot& snapshot, const ModelPath& path) {
  const live::Model* model = snapshot.find(path.tenant, path.name);
  if (model == nullptr) {
    return {nullptr, error_reply(400, str("Request for unknown model: '", printable(path.name), "' is not found"))};
  }
  if (model->canary != nullptr && path.version == str(model->canary->model.version)) return {&model->canary->model, {}};
  if (!path.version.empty() && path.version != str(model->version)) {
    return {nullptr, error_reply(404, str("Request for unknown model: '", path.name, "' version ",
                                          printable(path.version), " is not found"))};
  }
  return {model, {}};
}

ModelLookup look_up_ready(const live::Snapshot& snapshot, const ModelPath& path) {
  ModelLookup found = look_up(snapshot, path);
  if (found.model == nullptr || found.model->state != live::ModelState::unavailable) return found;
  if (path.version.empty()) {
    return {nullptr, error_reply(404, str("Request for unknown model: '", path.name, "' has no available versions"))};
  }
  return {nullptr, error_reply(503, str("Request for unknown model: '", path.name, "' version ", found.model->version,
                                        " is not at ready state"))};
}

const live::Model& chosen(const live::Model& model, const ModelPath& path) {
  const bool shared = path.version.empty() && model.canary != nullptr;
  return shared && model.canary->takes_next() ? model.canary->model : model;
}

std::string_view name_of(live::ModelState state) {
  switch (state) {
    case live::ModelState::ready:
      return "READY";
    case live::ModelState::loading:
      return "LOADING";
    case live::ModelState::unavailable:
      break;
  }
  return "UNAVAILABLE";
}

}  // namespace sluice::gateway
