// How the journal and profiles are read. Used by Store, and by Reader on a connection of its own.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/function.h"
#include "store/database.h"
#include "store/records.h"

namespace sluice::store {

[[nodiscard]] Result<std::vector<Request>> unfinished_requests(Database& database);
[[nodiscard]] Result<std::optional<RequestRecord>> find_request(Database& database, RequestId id);
[[nodiscard]] Result<std::vector<RequestRecord>> list_requests(Database& database, const RequestQuery& query);
[[nodiscard]] Result<std::optional<std::string>> inputs_of(Database& database, RequestId id);
[[nodiscard]] Result<std::optional<std::string>> outputs_of(Database& database, RequestId id);
[[nodiscard]] Result<std::optional<std::string>> profile_of(Database& database, FunctionVersion function);

// An id as SQLite keeps it. Ids of 2^63 and above become negative: none is there.
[[nodiscard]] inline std::int64_t row_of(RequestId id) {
  return static_cast<std::int64_t>(id.value());
}

}  // namespace sluice::store
