// The part of Store that writes the journal of asynchronous requests.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "store/journal_queries.h"
#include "store/store.h"

namespace sluice::store {
namespace {

struct Totals {
  std::int64_t finished = 0, output_bytes = 0;
};

Result<Totals> totals(Database& database) {
  Totals all;
  Query row = database.query("SELECT finished, output_bytes FROM totals");
  while (row.next()) all = {.finished = row.integer(0), .output_bytes = row.integer(1)};
  if (const Status status = row.status(); !status) return status.error();
  return all;
}

// Why nothing was there to be finished.
Error not_finished(Database& database, RequestId id) {
  const auto known = find_request(database, id);
  if (!known) return known.error();
  if (*known) return {ErrorCode::already_exists, str("request ", id.value(), " is already answered")};
  return {ErrorCode::not_found, str("request ", id.value(), " is not in the journal")};
}

}  // namespace

Status Store::put_request(const Request& request, std::string_view inputs) {
  CHECK(row_of(request.id) >= 0);
  std::optional<std::int64_t> timeout;
  if (request.timeout) timeout = request.timeout->count_ns();
  Status put = database_.run(
      "INSERT INTO requests(id, tenant, application, caller_id, arrival, objective, timeout, priority, inputs) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
      row_of(request.id), request.tenant, request.application, request.caller_id, request.arrival.count_ns(),
      request.objective.count_ns(), timeout, std::uint32_t{request.priority}, Blob{inputs});
  if (put || put.error().code != ErrorCode::already_exists) return put;
  return Error{ErrorCode::already_exists, str("request ", request.id.value(), " is already in the journal")};
}

Status Store::finish_request(RequestId id, const Answer& answer, std::string_view outputs) {
  CHECK(answer.state != State::running);
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun();
  const Status updated = database_.run(
      "UPDATE requests SET state = ?, finished = ?, version = ?, cost = ?, stage = ?, error = ?, "
      "output_bytes = ? + length(CAST(caller_id AS BLOB)), outputs = ?, inputs = NULL WHERE id = ? AND state = 0",
      static_cast<std::int64_t>(answer.state), answer.finished.count_ns(), answer.version, answer.cost, answer.stage,
      answer.error, static_cast<std::int64_t>(outputs.size()), Blob{outputs}, row_of(id));
  if (!updated) return updated;
  if (database_.changes() == 0) return not_finished(database_, id);
  if (const Status bounded = forget_beyond_bounds(); !bounded) return bounded;
  return whole.keep();
}

Status Store::forget_beyond_bounds() {
  const auto finished_max = static_cast<std::int64_t>(options_.finished_max);
  for (;;) {
    const auto now = totals(database_);
    if (!now) return now.error();
    const bool holds = now->finished <= finished_max && now->output_bytes <= options_.outputs_max.count();
    if (holds || now->finished <= 1) return Done{};
    const Status forgotten = database_.run(
        "DELETE FROM requests WHERE id = (SELECT id FROM requests WHERE state <> 0 ORDER BY finished, id LIMIT 1)");
    if (!forgotten) return forgotten;
    if (database_.changes() == 0) {
      return Error{ErrorCode::io, str(database_.path(), " is damaged: its totals do not fit its requests")};
    }
  }
}

Result<std::vector<Request>> Store::unfinished_requests() {
  return store::unfinished_requests(database_);
}

Result<std::optional<RequestRecord>> Store::find(RequestId id) {
  return find_request(database_, id);
}

Result<std::vector<RequestRecord>> Store::list(const RequestQuery& query) {
  return list_requests(database_, query);
}

Result<std::optional<std::string>> Store::inputs_of(RequestId id) {
  return store::inputs_of(database_, id);
}

Result<std::optional<std::string>> Store::outputs_of(RequestId id) {
  return store::outputs_of(database_, id);
}

}  // namespace sluice::store
