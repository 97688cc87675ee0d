#include "gateway/access.h"

#include <algorithm>

#include "base/text.h"
#include "gateway/json_text.h"

namespace sluice::gateway {
namespace {

// "localhost:8000" → "localhost", "[::1]:8000" → "[::1]".
std::string_view without_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) return authority;
  return authority.substr(0, colon);
}

// A page can make its own name point at 127.0.0.1, but not an address or `localhost`.
bool is_local_name(std::string_view authority) {
  const std::string_view host = without_port(authority);
  const bool digits = !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host.empty() || host == "localhost" || digits || host.starts_with('[');
}

bool is_same_origin(std::string_view origin, std::string_view host) {
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && origin.substr(scheme + 3) == host;
}

}  // namespace

std::optional<Reply> Access::refuse(const Caller& caller) const {
  if (!key_.empty()) {
    if (same_secret(caller.key, key_)) return std::nullopt;
    const std::string_view what = caller.key.empty() ? "this server needs a key" : "this is not the key of this server";
    return Reply{.status = 401,
                 .body = error_json(str(what, ": send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'")),
                 .headers = "WWW-Authenticate: Bearer\r\n"};
  }
  if (!is_local_name(caller.host)) {
    return Reply{.status = 403,
                 .body = error_json(str("this server is for its own machine: call it by address or as "
                                        "localhost, not as '",
                                        printable(caller.host), "'"))};
  }
  if (!caller.origin.empty() && !is_same_origin(caller.origin, caller.host)) {
    return Reply{.status = 403,
                 .body = error_json(str("pages of ", printable(caller.origin), " may not use this server"))};
  }
  return std::nullopt;
}

bool same_secret(std::string_view given, std::string_view secret) {
  unsigned char difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(other) ^ static_cast<unsigned char>(secret[i])));
  }
  return difference == 0;
}

}  // namespace sluice::gateway
