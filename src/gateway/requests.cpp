#include <utility>

#include "base/text.h"
#include "gateway/admin_pages.h"
#include "gateway/endpoints.h"
#include "gateway/http_reply.h"
#include "gateway/oip_response.h"
#include "gateway/target.h"

namespace sluice::gateway {
namespace {

constexpr std::int64_t kLimitMax = 1000;

// The record, or nothing after having said why.
std::optional<live::RequestRecord> find(Endpoints& endpoints, std::string_view text, const Respond& respond) {
  const auto id = parse_request_id(text);
  if (!id) {
    answer(respond,
           error_reply(400, str("'", printable(text), "' is no id of a request: expected 16 hexadecimal digits")));
    return std::nullopt;
  }
  auto record = endpoints.service.find_request(*id);
  if (!record) answer(respond, error_reply(404, str("there is no request ", text, ", or it is not kept any more")));
  return record;
}

std::optional<std::string> result_of(Endpoints& endpoints, const live::RequestRecord& record) {
  const bool finished = record.state == live::RequestState::met || record.state == live::RequestState::late;
  if (!record.asynchronous || !finished) return std::nullopt;
  const auto outputs = endpoints.service.outputs_of(record.id);
  if (outputs == nullptr) return "null";
  return write_stored_result({.name = record.application, .version = record.version}, record.caller_id, *outputs);
}

}  // namespace

void list_requests(Endpoints& endpoints, const Request& request, const Respond& respond) {
  live::RequestQuery query;
  query.application = query_value(request.query, "application").value_or("");
  if (const auto name = query_value(request.query, "state"); name && !name->empty()) {
    query.state = parse_request_state(*name);
    if (!query.state) {
      return answer(respond, error_reply(400, str("there is no state '", printable(*name),
                                                  "': expected running, met, late, rejected, failed or cancelled")));
    }
  }
  if (const auto text = query_value(request.query, "limit"); text && !text->empty()) {
    const auto limit = parse_int(*text);
    if (!limit || *limit < 1 || *limit > kLimitMax) {
      return answer(respond, error_reply(400, str("limit is '", printable(*text), "': expected 1 to ", kLimitMax)));
    }
    query.limit = static_cast<std::size_t>(*limit);
  }
  answer_json(respond, requests_page(endpoints.service.requests(query)));
}

void show_request(Endpoints& endpoints, std::string_view id, const Respond& respond) {
  const auto record = find(endpoints, id, respond);
  if (record) answer_json(respond, request_page(*record, result_of(endpoints, *record)));
}

void trace_request(Endpoints& endpoints, std::string_view id, const Respond& respond) {
  const auto record = find(endpoints, id, respond);
  if (record) answer_json(respond, trace_page(*record));
}

void cancel_request(Endpoints& endpoints, std::string_view id, const Respond& respond) {
  const auto record = find(endpoints, id, respond);
  if (!record) return;
  if (record->state != live::RequestState::running) {
    return answer(respond, error_reply(400, str("request ", id, " has ended already: ", name_of(record->state))));
  }
  endpoints.service.cancel(record->id);
  answer_json(respond, cancelled_page(record->id));
}

}  // namespace sluice::gateway
