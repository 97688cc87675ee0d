// What the Open Inference Protocol and Triton's extensions tell about models, as JSON texts.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "gateway/exchange.h"
#include "live/snapshot.h"

namespace sluice::gateway {

// Triton's word for what runs a model: an application is an ensemble to it.
[[nodiscard]] std::string_view platform_of(const live::Model& model);
[[nodiscard]] std::string server_metadata(std::string_view name, std::string_view version);
[[nodiscard]] std::string model_metadata(const live::Model& model);
// {"name", "ready": true}; 400 where it cannot run.
[[nodiscard]] Reply model_readiness(const live::Model& model);
[[nodiscard]] std::string model_stats(std::span<const live::Model> models);
[[nodiscard]] std::string repository_index(std::span<const live::Model> models, bool ready_only);

}  // namespace sluice::gateway
