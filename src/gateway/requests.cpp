#include <functional>
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

// Answers with a page about one request. What is kept of it is read from the disk, which takes long at times.
using Page = std::function<Reply(Endpoints&, const live::RequestRecord&)>;
struct Asked {
  const Principal& principal;
  std::string_view id;
};
void answer_about(const SharedEndpoints& endpoints, const Asked& asked, const Respond& respond, Page page) {
  const std::string_view text = asked.id;
  const auto id = endpoints->ids.parse(text);
  if (!id) {
    return answer(respond, error_reply(400, str("'", printable(text),
                                                "' is no id of a request: expected 16 hexadecimal digits")));
  }
  respond->respond_at_length([endpoints, principal = asked.principal, id = *id, page = std::move(page)] {
    const auto record = endpoints->service.find_request(principal, id);
    if (record) return page(*endpoints, *record);
    return error_reply(404, str("there is no request ", endpoints->ids.text(id), ", or it is not kept any more"));
  });
}

std::optional<std::string> result_of(Endpoints& endpoints, const Principal& principal,
                                     const live::RequestRecord& record) {
  const bool finished = record.state == live::RequestState::met || record.state == live::RequestState::late;
  if (!record.asynchronous || !finished) return std::nullopt;
  const auto outputs = endpoints.service.outputs_of(principal, record.id);
  if (outputs == nullptr) return "null";
  return write_stored_result({.name = record.application, .version = record.version}, record.caller_id, *outputs);
}

}  // namespace

void list_requests(const SharedEndpoints& endpoints, const Request& request, const Respond& respond) {
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
  respond->respond_at_length([endpoints, query, principal = request.principal] {
    return Reply{.body = requests_page(endpoints->service.requests(principal, query), endpoints->ids)};
  });
}

void show_request(const SharedEndpoints& endpoints, const Principal& principal, std::string_view id,
                  const Respond& respond) {
  answer_about(endpoints, {principal, id}, respond, [principal](Endpoints& those, const live::RequestRecord& record) {
    return Reply{.body = request_page(record, result_of(those, principal, record), those.ids)};
  });
}

void trace_request(const SharedEndpoints& endpoints, const Principal& principal, std::string_view id,
                   const Respond& respond) {
  answer_about(endpoints, {principal, id}, respond, [](Endpoints& those, const live::RequestRecord& record) {
    return Reply{.body = trace_page(record, those.ids)};
  });
}

void cancel_request(const SharedEndpoints& endpoints, const Principal& principal, std::string_view id,
                    const Respond& respond) {
  answer_about(endpoints, {principal, id}, respond, [principal](Endpoints& those, const live::RequestRecord& record) {
    const std::string shown = those.ids.text(record.id);
    if (record.state != live::RequestState::running) {
      return error_reply(400, str("request ", shown, " has ended already: ", name_of(record.state)));
    }
    those.service.cancel(principal, record.id);
    return Reply{.body = cancelled_page(shown)};
  });
}

}  // namespace sluice::gateway
