// What the admin API tells, as JSON texts (docs/api.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/service.h"
#include "live/snapshot.h"

namespace sluice::gateway {

// 16 lower-case hexadecimal digits, and back.
[[nodiscard]] std::string id_text(RequestId id);
[[nodiscard]] std::optional<RequestId> parse_request_id(std::string_view text);
[[nodiscard]] std::string_view name_of(live::RequestState state);  // "met"
[[nodiscard]] std::optional<live::RequestState> parse_request_state(std::string_view name);

[[nodiscard]] std::string applications_page(const live::Snapshot& snapshot);
[[nodiscard]] std::string deployed_page(const live::Deployed& deployed);
[[nodiscard]] std::string removed_page(std::string_view application);
[[nodiscard]] std::string requests_page(const std::vector<live::RequestRecord>& records);
// `result`: a JSON text, "null" where it is gone; none: not asked for later, or not finished.
[[nodiscard]] std::string request_page(const live::RequestRecord& record, const std::optional<std::string>& result);
[[nodiscard]] std::string trace_page(const live::RequestRecord& record);
[[nodiscard]] std::string cancelled_page(RequestId id);
[[nodiscard]] std::string status_page(const live::Snapshot& snapshot, std::string_view version);
[[nodiscard]] std::string nodes_page(const live::Snapshot& snapshot);

}  // namespace sluice::gateway
