// Models by name and version, and the refusals when there is none.
#pragma once
#include <optional>
#include <string_view>

#include "gateway/exchange.h"
#include "live/snapshot.h"

namespace sluice::gateway {

// /v2/models/M[/versions/V]/…, of whose tenant; version empty: not given.
struct ModelPath {
  std::string_view tenant, name, version;
};

struct ModelLookup {
  const live::Model* model = nullptr;
  Reply refusal;  // where it is null
};
[[nodiscard]] ModelLookup look_up(const live::Snapshot& snapshot, const ModelPath& path);
// Also refuses what cannot be called.
[[nodiscard]] ModelLookup look_up_ready(const live::Snapshot& snapshot, const ModelPath& path);
// The version that the next call is for: where none is named, now and then the canary.
[[nodiscard]] const live::Model& chosen(const live::Model& model, const ModelPath& path);

[[nodiscard]] std::string_view name_of(live::ModelState state);  // READY, LOADING, UNAVAILABLE

}  // namespace sluice::gateway
