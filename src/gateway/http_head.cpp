#include "gateway/http_head.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>

namespace sluice::gateway {
namespace {

std::string_view std_view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

// "Bearer KEY" → "KEY".
std::string_view bearer(std::string_view value) {
  constexpr std::string_view kScheme = "bearer ";
  if (value.size() < kScheme.size() || !boost::beast::iequals({value.data(), kScheme.size()}, "bearer ")) return {};
  value.remove_prefix(kScheme.size());
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

// "http://HOST/PATH" → "/PATH". False: such a target without a host.
bool to_origin_form(Head& head) {
  std::string_view target = head.target;
  const std::size_t colon = target.find("://");
  if (target.starts_with('/') || colon == std::string_view::npos) return true;
  const std::string_view scheme = target.substr(0, colon);
  const bool http = boost::beast::iequals({scheme.data(), scheme.size()}, "http") ||
                    boost::beast::iequals({scheme.data(), scheme.size()}, "https");
  if (!http) return true;  // no URL of ours: there is nothing at it
  target.remove_prefix(colon + 3);
  const std::size_t end = std::min(target.find_first_of("/?"), target.size());
  if (end == 0) return false;
  head.host = target.substr(0, end);
  const bool rooted = target.substr(end).starts_with('/');
  head.target = (rooted ? "" : "/") + std::string(target.substr(end));
  return true;
}

}  // namespace

std::optional<HeadFault> settle(Head& head) {
  // Two readings of where a request ends, or of who it is for, are how one is hidden inside of another.
  if (head.other_coding) return HeadFault{501, "Transfer-Encoding other than chunked is not served"};
  if (head.old && head.transfer_encoding) return HeadFault{400, "HTTP/1.0 has no Transfer-Encoding"};
  if (head.hosts > 1) return HeadFault{400, "the request has several Host fields: send one"};
  if (!head.old && head.hosts == 0) return HeadFault{400, "the request has no Host field, which HTTP/1.1 demands"};
  if (!to_origin_form(head)) return HeadFault{400, "the target of the request names no host"};
  return std::nullopt;
}

void Head::clear() {
  method = Method::other;
  head_only = transfer_encoding = expects_continue = other_coding = false;
  hosts = 0;
  target.clear();
  json_bytes.reset();
  for (std::string* text : {&content_encoding, &accept_encoding, &key, &host, &origin}) text->clear();
}

void HeadParser::on_request_impl(verb method, string_view, string_view target, int version, error_code&) {
  head_.clear();
  head_.head_only = method == verb::head;
  head_.method = method == verb::get       ? Method::get
                 : head_.head_only         ? Method::get
                 : method == verb::post    ? Method::post
                 : method == verb::delete_ ? Method::remove
                                           : Method::other;
  head_.target = std_view(target);
  head_.old = version < 11;
}

void HeadParser::on_field_impl(field name, string_view name_text, string_view value, error_code&) {
  switch (name) {
    case field::host:
      head_.host = std_view(value);
      ++head_.hosts;
      break;
    case field::origin:
      head_.origin = std_view(value);
      break;
    case field::authorization:
      head_.key = bearer(std_view(value));
      break;
    case field::content_encoding:
      head_.content_encoding = std_view(value);
      break;
    case field::accept_encoding:
      head_.accept_encoding = std_view(value);
      break;
    case field::transfer_encoding:
      head_.other_coding = head_.transfer_encoding || !boost::beast::iequals(value, "chunked");
      head_.transfer_encoding = true;
      break;
    case field::expect:
      head_.expects_continue = boost::beast::iequals(value, "100-continue");
      break;
    case field::unknown:
      if (boost::beast::iequals(name_text, "Inference-Header-Content-Length")) head_.json_bytes = std_view(value);
      if (boost::beast::iequals(name_text, "X-API-Key")) head_.key = std_view(value);
      break;
    default:
      break;
  }
}

std::size_t HeadParser::on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) {
  if (!body_.append(std_view(bytes))) error = boost::beast::http::error::buffer_overflow;
  return error ? 0 : bytes.size();
}

}  // namespace sluice::gateway
