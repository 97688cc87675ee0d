// The part of Store that keeps keys.
#include "base/text.h"
#include "store/store.h"

namespace sluice::store {

Result<std::string> Store::secret(std::string_view name) {
  auto known = get(name);
  if (!known) return known.error();
  if (*known) return **std::move(known);
  auto made = make_secret();
  if (!made) return made;
  if (const Status kept = set(name, *made); !kept) return kept.error();
  return made;
}

Result<std::string> Store::add_key(const std::string& name, const Principal& principal, Time now) {
  if (!is_name(name)) return not_a_name("key", name);
  if (const Status known = check_tenant(principal.tenant); !known) return known.error();
  const auto salt = secret("key_salt");
  if (!salt) return salt.error();
  auto text = make_key();
  if (!text) return text;
  const Status put = database_.run("INSERT INTO keys VALUES(?, ?, ?, ?, ?)", name, principal.tenant,
                                   name_of(principal.role), now.count_ns(), Blob{key_hash(*salt, *text)});
  if (put) return text;
  if (put.error().code != ErrorCode::already_exists) return put.error();
  return Error{ErrorCode::already_exists, str("there is a key '", name, "' already: revoke it, or use another name")};
}

Status Store::remove_key(const std::string& name) {
  Status removed = database_.run("DELETE FROM keys WHERE name = ?", name);
  if (removed && database_.changes() == 0) {
    return Error{ErrorCode::not_found, str("there is no key '", printable(name), "'")};
  }
  return removed;
}

// A role that this version does not know gives nothing.
Result<std::vector<Key>> Store::keys() {
  std::vector<Key> all;
  Query rows = database_.query("SELECT name, tenant, role, made, hash FROM keys ORDER BY name");
  while (rows.next()) {
    const auto role = parse_role(rows.bytes(2));
    if (!role) continue;
    all.push_back({.name = rows.bytes(0),
                   .principal = {.tenant = rows.bytes(1), .role = *role},
                   .made = Time::from_ns(rows.integer(3)),
                   .hash = rows.bytes(4)});
  }
  if (const Status status = rows.status(); !status) return status.error();
  return all;
}

}  // namespace sluice::store
