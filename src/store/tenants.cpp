// The part of Store that keeps tenants and their quotas.
#include <algorithm>

#include "base/text.h"
#include "store/store.h"

namespace sluice::store {
namespace {

constexpr std::size_t kNameMax = 64;

std::optional<std::uint32_t> count_in(const Query& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return static_cast<std::uint32_t>(row.integer(column));
}

Quota quota_in(const Query& row, int first) {
  Quota quota{.requests = count_in(row, first + 1),
              .functions = count_in(row, first + 3),
              .vcpu = count_in(row, first + 4),
              .slices = count_in(row, first + 5)};
  if (!row.is_null(first)) quota.requests_per_second = row.real(first);
  if (!row.is_null(first + 2)) quota.bytes = Bytes(row.integer(first + 2));
  return quota;
}

std::optional<std::int64_t> count_of(const std::optional<Bytes>& bytes) {
  if (!bytes) return std::nullopt;
  return bytes->count();
}

}  // namespace

bool is_name(std::string_view text) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.size() <= kNameMax && std::ranges::all_of(text, fine);
}

Error not_a_name(std::string_view what, std::string_view text) {
  return {ErrorCode::invalid, str("'", printable(text), "' is no name of a ", what,
                                  ": letters, digits, '-', '_' and '.', at most ", kNameMax)};
}

Status Store::check_tenant(std::string_view name) {
  const auto known = database_.value("SELECT name FROM tenants WHERE name = ?", name);
  if (!known) return known.error();
  if (*known) return Done{};
  return Error{ErrorCode::not_found,
               str("there is no tenant '", printable(name), "': make it with `sluice tenants add NAME`")};
}

// Numbers are never used again: logs of earlier starts have them.
Result<Tenant> Store::add_tenant(const std::string& name, const Quota& quota) {
  if (!is_name(name)) return not_a_name("tenant", name);
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun().error();
  const auto number = database_.value(
      "INSERT INTO meta VALUES('tenants', '1') ON CONFLICT(name) DO UPDATE SET value = value + 1 RETURNING value");
  if (!number) return number.error();
  const auto parsed = *number ? parse_int(**number) : std::nullopt;
  if (!parsed) return Error{ErrorCode::io, str(database_.path(), " is damaged: its number of tenants is none")};
  Tenant tenant{.name = name, .id = TenantId(static_cast<std::uint32_t>(*parsed)), .quota = quota};
  Status put = database_.run("INSERT INTO tenants(name, number) VALUES(?, ?)", name, *parsed);
  if (put) put = set_quota(name, quota);
  if (put) put = whole.keep();
  if (put) return tenant;
  if (put.error().code != ErrorCode::already_exists) return put.error();
  return Error{ErrorCode::already_exists, str("there is a tenant '", name, "' already")};
}

Status Store::set_quota(const std::string& name, const Quota& quota) {
  if (const Status known = check_tenant(name); !known) return known;
  return database_.run(
      "UPDATE tenants SET requests_per_second = ?, requests = ?, bytes = ?, functions = ?, vcpu = ?, slices = ? "
      "WHERE name = ?",
      quota.requests_per_second, quota.requests, count_of(quota.bytes), quota.functions, quota.vcpu, quota.slices,
      name);
}

Status Store::remove_tenant(const std::string& name) {
  if (name == kDefaultTenant) return Error{ErrorCode::invalid, "the tenant 'default' stays"};
  if (const Status known = check_tenant(name); !known) return known;
  const auto keys = database_.value("SELECT count(*) FROM keys WHERE tenant = ?", name);
  if (!keys) return keys.error();
  if (*keys != "0") {
    return Error{ErrorCode::invalid,
                 str("tenant '", name, "' has ", keys->value_or(""), " keys: revoke them before it is removed")};
  }
  const auto applications = database_.value("SELECT count(*) FROM applications WHERE tenant = ?", name);
  if (!applications) return applications.error();
  if (*applications != "0") {
    return Error{ErrorCode::invalid, str("tenant '", name, "' has ", applications->value_or(""),
                                         " applications: remove them before it is removed")};
  }
  return database_.run("DELETE FROM tenants WHERE name = ?", name);
}

Result<std::vector<Tenant>> Store::tenants() {
  std::vector<Tenant> all;
  Query rows = database_.query(
      "SELECT name, number, requests_per_second, requests, bytes, functions, vcpu, slices FROM tenants ORDER BY name");
  while (rows.next()) {
    all.push_back({.name = rows.bytes(0),
                   .id = TenantId(static_cast<std::uint32_t>(rows.integer(1))),
                   .quota = quota_in(rows, 2)});
  }
  if (const Status status = rows.status(); !status) return status.error();
  return all;
}

}  // namespace sluice::store
