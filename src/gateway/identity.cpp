// Keys and tenants over HTTP. Only admins get here (access.cpp).
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "gateway/endpoints.h"
#include "gateway/http_reply.h"
#include "gateway/invalid.h"
#include "gateway/json_body.h"
#include "gateway/refusal.h"

namespace sluice::gateway {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

template <class T>
ordered_json maybe(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json tenant_of(const store::Tenant& tenant) {
  const Quota& quota = tenant.quota;
  ordered_json bytes;  // null: no limit
  if (quota.bytes) bytes = quota.bytes->count();
  return {{"name", tenant.name},
          {"requests_per_second", maybe(quota.requests_per_second)},
          {"requests", maybe(quota.requests)},
          {"bytes", std::move(bytes)},
          {"functions", maybe(quota.functions)},
          {"vcpu", maybe(quota.vcpu)},
          {"vgpu", maybe(quota.slices)}};
}

ordered_json key_of(const std::string& name, const Principal& principal) {
  return {{"name", name}, {"tenant", principal.tenant}, {"role", name_of(principal.role)}};
}

Result<std::string> text_in(const data::Json& json, std::string_view field, std::string_view otherwise) {
  const data::Json* value = json.find(field);
  if (value == nullptr) return std::string(otherwise);
  if (const auto* text = value->as<std::string>()) return *text;
  return invalid(str("'", field, "' is no text"));
}

// Reads one limit: absent leaves it as it is, null removes it.
template <class T, class Convert>
Status read_limit(const data::Json& json, std::string_view field, std::optional<T>& out, Convert convert) {
  const data::Json* value = json.find(field);
  if (value == nullptr) return Done{};
  if (value->as<std::nullptr_t>() != nullptr) {
    out.reset();
    return Done{};
  }
  const auto* whole = value->as<std::int64_t>();
  const auto* real = value->as<double>();
  const double number = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1;
  auto converted = convert(number);
  if (number < 0 || !converted) return invalid(str("'", field, "' is no limit: expected a number, or null for none"));
  out = *converted;
  return Done{};
}

std::optional<std::uint32_t> count_of(double number) {
  const bool fits = number == std::floor(number) && number <= std::numeric_limits<std::uint32_t>::max();
  return fits ? std::optional(static_cast<std::uint32_t>(std::max(0.0, number))) : std::nullopt;
}

std::optional<Bytes> bytes_of(double number) {
  constexpr double kBytesMax = 1e15;
  return number <= kBytesMax ? std::optional(Bytes(static_cast<std::int64_t>(number))) : std::nullopt;
}

Result<Quota> quota_in(const data::Json& json, Quota quota) {
  const auto rate = [](double number) { return std::optional(number); };
  Status read = read_limit(json, "requests_per_second", quota.requests_per_second, rate);
  if (read) read = read_limit(json, "requests", quota.requests, count_of);
  if (read) read = read_limit(json, "bytes", quota.bytes, bytes_of);
  if (read) read = read_limit(json, "functions", quota.functions, count_of);
  if (read) read = read_limit(json, "vcpu", quota.vcpu, count_of);
  if (read) read = read_limit(json, "vgpu", quota.slices, count_of);
  if (!read) return read.error();
  return quota;
}

std::optional<store::Tenant> find_tenant(const live::Identity& identity, std::string_view name) {
  for (store::Tenant& tenant : identity.tenants()) {
    if (tenant.name == name) return std::move(tenant);
  }
  return std::nullopt;
}

// Answers with the tenant as it is once the change is kept.
live::Identity::OnDone show_tenant(const SharedEndpoints& endpoints, const std::string& name, const Respond& respond) {
  return [endpoints, name, respond](const Status& done) {
    if (!done) return answer(respond, reply_of(done.error()));
    const auto tenant = find_tenant(endpoints->identity, name);
    answer(respond, tenant ? Reply{.body = text_of(tenant_of(*tenant))} : error_reply(404, "it is gone again"));
  };
}

}  // namespace

void list_keys(Endpoints& endpoints, const Respond& respond) {
  ordered_json list = ordered_json::array();
  for (const store::Key& key : endpoints.identity.keys()) {
    ordered_json entry = key_of(key.name, key.principal);
    const bool is_file = key.made == Time();  // DATA/key
    entry["made_ms"] = is_file ? ordered_json() : ordered_json(static_cast<double>(key.made.count_ns()) / 1e6);
    list.push_back(std::move(entry));
  }
  answer_json(respond, text_of({{"keys", std::move(list)}}));
}

void add_key(Endpoints& endpoints, const Request& request, const Respond& respond) {
  const auto json = object_in(request.body);
  if (!json) return answer(respond, reply_of(json.error()));
  const auto name = text_in(*json, "name", ""), tenant = text_in(*json, "tenant", kDefaultTenant),
             role_text = text_in(*json, "role", name_of(Role::caller));
  for (const auto* text : {&name, &tenant, &role_text}) {
    if (!*text) return answer(respond, reply_of(text->error()));
  }
  const auto role = parse_role(*role_text);
  if (!role) {
    return answer(respond, error_reply(400, str("there is no role '", printable(*role_text),
                                                "': expected caller, deployer or admin")));
  }
  const Principal principal{.tenant = *tenant, .role = *role};
  endpoints.identity.add_key(*name, principal, [respond, name = *name, principal](const Result<std::string>& key) {
    if (!key) return answer(respond, reply_of(key.error()));
    ordered_json page = key_of(name, principal);
    page["key"] = *key;
    answer_json(respond, text_of(page));
  });
}

void revoke_key(Endpoints& endpoints, const std::string& name, const Respond& respond) {
  endpoints.identity.revoke_key(name, [respond, name](const Status& done) {
    answer(respond, done ? Reply{.body = text_of({{"revoked", name}})} : reply_of(done.error()));
  });
}

void list_tenants(Endpoints& endpoints, const Respond& respond) {
  ordered_json list = ordered_json::array();
  for (const store::Tenant& tenant : endpoints.identity.tenants()) list.push_back(tenant_of(tenant));
  answer_json(respond, text_of({{"tenants", std::move(list)}}));
}

void add_tenant(const SharedEndpoints& endpoints, const Request& request, const Respond& respond) {
  const auto json = object_in(request.body);
  if (!json) return answer(respond, reply_of(json.error()));
  const auto name = text_in(*json, "name", "");
  if (!name) return answer(respond, reply_of(name.error()));
  const auto quota = quota_in(*json, {});
  if (!quota) return answer(respond, reply_of(quota.error()));
  endpoints->identity.add_tenant(*name, *quota, show_tenant(endpoints, *name, respond));
}

void set_tenant(const SharedEndpoints& endpoints, const std::string& name, const Request& request,
                const Respond& respond) {
  const auto json = object_in(request.body);
  if (!json) return answer(respond, reply_of(json.error()));
  const auto before = find_tenant(endpoints->identity, name);
  const auto quota = quota_in(*json, before ? before->quota : Quota{});
  if (!quota) return answer(respond, reply_of(quota.error()));
  endpoints->identity.set_quota(name, *quota, show_tenant(endpoints, name, respond));
}

void remove_tenant(Endpoints& endpoints, const std::string& name, const Respond& respond) {
  endpoints.identity.remove_tenant(name, [respond, name](const Status& done) {
    answer(respond, done ? Reply{.body = text_of({{"removed", name}})} : reply_of(done.error()));
  });
}

}  // namespace sluice::gateway
