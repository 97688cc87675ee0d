#include "store/journal_queries.h"

#include <algorithm>
#include <limits>

namespace sluice::store {
namespace {

#define REQUEST_COLUMNS "id, application, arrival, objective, timeout, priority, caller_id, tenant"
#define RECORD_COLUMNS REQUEST_COLUMNS ", state, finished, cost, stage, error, version"

Request request_in(const Query& row) {
  Request request{.id = RequestId(static_cast<std::uint64_t>(row.integer(0))),
                  .tenant = row.bytes(7),
                  .application = row.bytes(1),
                  .arrival = Time::from_ns(row.integer(2)),
                  .objective = Duration::ns(row.integer(3)),
                  .priority = static_cast<std::uint8_t>(row.integer(5)),
                  .caller_id = row.bytes(6)};
  if (!row.is_null(4)) request.timeout = Duration::ns(row.integer(4));
  return request;
}

// A state that no version ever wrote is taken for a failure, not for a request to be run again.
State state_of(std::int64_t number) {
  const auto last = static_cast<std::int64_t>(last_of(State{}));
  return number >= 0 && number <= last ? static_cast<State>(number) : State::failed;
}

RequestRecord record_in(const Query& row) {
  return {.request = request_in(row),
          .answer = {.state = state_of(row.integer(8)),
                     .finished = Time::from_ns(row.integer(9)),
                     .cost = row.real(10),
                     .stage = row.bytes(11),
                     .error = row.bytes(12),
                     .version = static_cast<std::uint32_t>(row.integer(13))}};
}

// One text per kind of question, so that each gets the index that suits it. All bind tenant, application, state, limit.
std::string sql_of(const RequestQuery& query) {
  std::string sql = "SELECT " RECORD_COLUMNS " FROM requests WHERE TRUE";
  if (!query.tenant.empty()) sql += " AND tenant = ?1";
  if (!query.application.empty()) sql += " AND application = ?2";
  if (query.state) sql += query.state == State::running ? " AND state = 0" : " AND state = ?3";
  return sql + " ORDER BY id DESC LIMIT ?4";
}

}  // namespace

Result<std::vector<Request>> unfinished_requests(Database& database) {
  std::vector<Request> all;
  Query rows = database.query("SELECT " REQUEST_COLUMNS " FROM requests WHERE state = 0 ORDER BY arrival, id");
  while (rows.next()) all.push_back(request_in(rows));
  if (const Status status = rows.status(); !status) return status.error();
  return all;
}

Result<std::optional<RequestRecord>> find_request(Database& database, RequestId id) {
  std::optional<RequestRecord> found;
  Query rows = database.query("SELECT " RECORD_COLUMNS " FROM requests WHERE id = ?", row_of(id));
  while (rows.next()) found = record_in(rows);
  if (const Status status = rows.status(); !status) return status.error();
  return found;
}

Result<std::vector<RequestRecord>> list_requests(Database& database, const RequestQuery& query) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  const auto limit = static_cast<std::int64_t>(std::min(query.limit, kMost));
  const auto state = static_cast<std::int64_t>(query.state.value_or(State::running));
  std::vector<RequestRecord> all;
  const std::string sql = sql_of(query);
  Query rows = database.query(sql, query.tenant, query.application, state, limit);
  while (rows.next()) all.push_back(record_in(rows));
  if (const Status status = rows.status(); !status) return status.error();
  return all;
}

Result<std::optional<std::string>> inputs_of(Database& database, RequestId id) {
  return database.value("SELECT inputs FROM requests WHERE id = ?", row_of(id));
}

Result<std::optional<std::string>> outputs_of(Database& database, RequestId id) {
  return database.value("SELECT outputs FROM requests WHERE id = ?", row_of(id));
}

Result<std::optional<std::string>> profile_of(Database& database, FunctionVersion function) {
  return database.value("SELECT rows FROM profiles WHERE function = ?", static_cast<std::int64_t>(function));
}

}  // namespace sluice::store
