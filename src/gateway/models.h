// Models by name and version, and the refusals when there is none.
#pragma once
#include <optional>
#include <string_view>

#include "gateway/exchange.h"
#include "live/snapshot.h"

namespace sluice::gateway {

// Null: none. Applications win over functions of the same name.
[[nodiscard]] const live::Model* find_model(const live::Snapshot& snapshot, std::string_view name);

struct ModelLookup {
  const live::Model* model = nullptr;
  Reply refusal;  // where it is null
};
// `version` empty: the one there is.
[[nodiscard]] ModelLookup look_up(const live::Snapshot& snapshot, std::string_view name, std::string_view version);
// Also refuses what is not ready.
[[nodiscard]] ModelLookup look_up_ready(const live::Snapshot& snapshot, std::string_view name,
                                        std::string_view version);

[[nodiscard]] std::string_view name_of(live::ModelState state);  // READY, LOADING, UNAVAILABLE

}  // namespace sluice::gateway
