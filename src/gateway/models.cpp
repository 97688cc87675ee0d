#include "gateway/models.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "gateway/http_reply.h"

namespace sluice::gateway {
namespace {

const live::Model* find_in(std::span<const live::Model> sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &live::Model::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

const live::Model* find_model(const live::Snapshot& snapshot, std::string_view name) {
  const std::span<const live::Model> all = snapshot.models;
  const auto functions = std::ranges::partition_point(all, [](const live::Model& m) { return !m.is_function; });
  const auto applications = static_cast<std::size_t>(functions - all.begin());
  const live::Model* application = find_in(all.first(applications), name);
  return application != nullptr ? application : find_in(all.subspan(applications), name);
}

ModelLookup look_up(const live::Snapshot& snapshot, std::string_view name, std::string_view version) {
  const live::Model* model = find_model(snapshot, name);
  if (model == nullptr) {
    return {nullptr, error_reply(400, str("Request for unknown model: '", printable(name), "' is not found"))};
  }
  if (!version.empty() && version != str(model->version)) {
    return {nullptr, error_reply(404, str("Request for unknown model: '", name, "' version ", printable(version),
                                          " is not found"))};
  }
  return {model, {}};
}

ModelLookup look_up_ready(const live::Snapshot& snapshot, std::string_view name, std::string_view version) {
  ModelLookup found = look_up(snapshot, name, version);
  if (found.model == nullptr || found.model->state == live::ModelState::ready) return found;
  if (found.model->state == live::ModelState::unavailable && version.empty()) {
    return {nullptr, error_reply(404, str("Request for unknown model: '", name, "' has no available versions"))};
  }
  return {nullptr, error_reply(503, str("Request for unknown model: '", name, "' version ", found.model->version,
                                        " is not at ready state"))};
}

std::string_view name_of(live::ModelState state) {
  switch (state) {
    case live::ModelState::ready:
      return "READY";
    case live::ModelState::loading:
      return "LOADING";
    case live::ModelState::unavailable:
      return "UNAVAILABLE";
  }
  return "UNAVAILABLE";
}

}  // namespace sluice::gateway
