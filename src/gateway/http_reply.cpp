#include "gateway/http_reply.h"

#include "gateway/json_text.h"

namespace sluice::gateway {
namespace {

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

std::string_view name_of(ContentType type) {
  switch (type) {
    case ContentType::json:
      return "application/json";
    case ContentType::octets:
      return "application/octet-stream";
    case ContentType::metrics:
      return "text/plain; version=0.0.4; charset=utf-8";
  }
  return "application/json";
}

}  // namespace

void append_head(std::string& out, const Reply& reply, bool keep_alive) {
  out += "HTTP/1.1 ";
  append_json(out, reply.status);
  out += ' ';
  out += reason_of(reply.status);
  if (!reply.body.empty()) {
    out += "\r\nContent-Type: ";
    out += name_of(reply.type);
  }
  out += "\r\nContent-Length: ";
  append_json(out, reply.body.size());
  out += "\r\n";
  out += reply.headers;
  out += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
}

Reply error_reply(unsigned status, std::string_view text) {
  Reply reply{.status = status, .body = error_json(text)};
  if (status == 503) reply.headers = kRetryLater;
  return reply;
}

}  // namespace sluice::gateway
