#include "gateway/http_head.h"

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

}  // namespace

void Head::clear() {
  method = Method::other;
  head_only = transfer_encoding = expects_continue = false;
  target.clear();
  json_bytes.reset();
  for (std::string* text : {&content_encoding, &accept_encoding, &key, &host, &origin}) text->clear();
}

void HeadParser::on_request_impl(verb method, string_view, string_view target, int version, error_code&) {
  head_.clear();
  head_.method = method == verb::get       ? Method::get
                 : method == verb::post    ? Method::post
                 : method == verb::delete_ ? Method::remove
                                           : Method::other;
  head_.head_only = method == verb::head;
  head_.target = std_view(target);
  head_.old = version < 11;
}

void HeadParser::on_field_impl(field name, string_view name_text, string_view value, error_code&) {
  switch (name) {
    case field::host:
      head_.host = std_view(value);
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
