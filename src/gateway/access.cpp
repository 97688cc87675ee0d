#include "gateway/access.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "gateway/http_reply.h"
#include "gateway/target.h"

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

Reply needs_key(std::string_view what) {
  Reply reply = error_reply(401, str(what, ": send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"));
  reply.headers = "WWW-Authenticate: Bearer\r\n";
  return reply;
}

std::optional<Reply> refuse_page(const Knock& knock) {
  if (!is_local_name(knock.host)) {
    return error_reply(403, str("this server is for its own machine: call it by address or as localhost, not as '",
                                printable(knock.host), "'"));
  }
  if (!knock.origin.empty() && !is_same_origin(knock.origin, knock.host)) {
    return error_reply(403, str("pages of ", printable(knock.origin), " may not use this server"));
  }
  return std::nullopt;
}

// What balancers look at, who have no key.
bool is_health(const Knock& knock) {
  return knock.method == Method::get && (knock.path == "/v2/health/live" || knock.path == "/v2/health/ready");
}

// Of no tenant: sees nobody's names.
Principal passer_by() {
  return {.tenant = "", .role = Role::caller};
}

}  // namespace

Role needed_role(Method method, std::string_view path) {
  if (!path.starts_with("/v1/")) return Role::guest;
  const std::vector<std::string_view> parts = path_parts(path);
  if (parts.size() < 2) return Role::guest;
  const std::string_view what = parts[1];
  if (what == "keys" || what == "tenants") return Role::admin;
  if (method == Method::get) return Role::guest;
  return what == "applications" ? Role::deployer : Role::caller;
}

Admission Access::admit(const Knock& knock) const {
  if (knock.trusted && knock.key.empty()) return Principal{.role = Role::admin};
  if (knock.key.empty()) return admit_guest(knock);
  auto principal = identity_.who(knock.key);
  if (!principal) return needs_key("this is no key of this server");
  const Role needed = needed_role(knock.method, knock.path);
  if (principal->may(needed)) return *std::move(principal);
  return error_reply(403, str("this needs a key of role ", name_of(needed), "; this one is of role ",
                              name_of(principal->role), " of tenant '", principal->tenant, "'"));
}

Admission Access::admit_guest(const Knock& knock) const {
  if (knock.local) {
    if (auto refused = refuse_page(knock)) return *std::move(refused);
  }
  const bool welcome = knock.local && identity_.open_to_guests();
  if (welcome && needed_role(knock.method, knock.path) == Role::guest) return Principal{};
  if (auto guest = metrics_guest(knock)) return *std::move(guest);
  if (is_health(knock)) return passer_by();
  if (!knock.local) return needs_key("this server needs a key");
  if (!welcome) return needs_key("this server needs a key, since it has several tenants");
  return needs_key("this needs a key on every address");
}

// Names, traffic and costs of applications are their tenant's own: with several tenants only a key shows them.
std::optional<Principal> Access::metrics_guest(const Knock& knock) const {
  const bool asked = knock.method == Method::get && knock.path == "/metrics";
  if (!asked || open_metrics_ == OpenMetrics::none) return std::nullopt;
  const bool everything = open_metrics_ == OpenMetrics::all || identity_.open_to_guests();
  return everything ? Principal{} : passer_by();
}

}  // namespace sluice::gateway
