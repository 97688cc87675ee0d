// What the admin API tells, as JSON texts (docs/api.md): to a principal, what it sees.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/principal.h"
#include "gateway/exchange.h"
#include "gateway/request_ids.h"
#include "live/service.h"
#include "live/snapshot.h"

namespace sluice::gateway {

[[nodiscard]] std::string_view name_of(live::RequestState state);  // "met"
[[nodiscard]] std::optional<live::RequestState> parse_request_state(std::string_view name);

[[nodiscard]] std::string applications_page(const live::Snapshot& snapshot, const Principal& principal);
[[nodiscard]] std::string deployed_page(const live::Deployed& deployed);
[[nodiscard]] std::string removed_page(std::string_view application);
[[nodiscard]] std::string requests_page(const std::vector<live::RequestRecord>& records, const RequestIds& ids);
// `result`: a JSON text, "null" where it is gone; none: not asked for later, or not finished.
[[nodiscard]] std::string request_page(const live::RequestRecord& record, const std::optional<std::string>& result,
                                       const RequestIds& ids);
[[nodiscard]] std::string trace_page(const live::RequestRecord& record, const RequestIds& ids);
[[nodiscard]] std::string cancelled_page(std::string_view id);
[[nodiscard]] std::string status_page(const live::Snapshot& snapshot, std::string_view version,
                                      const Principal& principal);
// {"ready": true}; 503 where an application cannot run, with those that the principal sees and why.
[[nodiscard]] Reply readiness(const live::Snapshot& snapshot, const Principal& principal);
[[nodiscard]] std::string nodes_page(const live::Snapshot& snapshot, const Principal& principal);

}  // namespace sluice::gateway
