#include "gateway/large_request.h"

#include <utility>

#include "gateway/http_reply.h"

namespace sluice::gateway {

Request request_of(const Head& head, std::string_view body, const Principal& principal) {
  const std::string_view target = head.target;
  const std::size_t mark = target.find('?');
  return {.method = head.method,
          .path = target.substr(0, mark),
          .query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1),
          .body = body,
          .json_bytes = head.json_bytes,
          .principal = principal};
}

Reply not_unpacked(const Error& error) {
  const bool limit = error.code == ErrorCode::unavailable;
  Reply reply = error_reply(error.code == ErrorCode::too_large ? 413 : limit ? 503 : 400, error.message);
  if (limit) reply.headers = kRetrySoon;
  return reply;
}

void serve_large(std::shared_ptr<LargeRequest> request, ServerShared& shared, Respond respond) {
  // `respond` is named first, so that it goes last: the body is of the budget that it keeps alive.
  shared.large.post([respond = std::move(respond), request = std::move(request), &shared] {
    if (request->encoding != Encoding::identity) {
      BodyBuffer unpacked(shared.bodies);
      const Status done = unpack(request->encoding, request->body.view(), shared.options.body_bytes_max, unpacked);
      if (!done) return respond->respond([error = done.error()] { return not_unpacked(error); });
      request->body.swap(unpacked);
    }
    shared.handler.handle(request_of(request->head, request->body.view(), request->principal), respond);
  });
}

}  // namespace sluice::gateway
