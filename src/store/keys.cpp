// The part of Store that keeps keys.
#include "base/text.h"
#include "store/store.h"

namespace sluice::store {

Result<std::string> Store::add_key(const std::string& name) {
  auto made = make_key(name);
  if (!made) return made.error();
  const Status put =
      database_.run("INSERT INTO keys VALUES(?, ?, ?)", name, Blob{made->key.salt}, Blob{made->key.hash});
  if (put) return std::move(made->text);
  if (put.error().code != ErrorCode::already_exists) return put.error();
  return Error{ErrorCode::already_exists,
               str("there is a key ", printable(name), " already: remove it first, or use another name")};
}

Status Store::remove_key(const std::string& name) {
  Status removed = database_.run("DELETE FROM keys WHERE name = ?", name);
  if (removed && database_.changes() == 0) {
    return Error{ErrorCode::not_found, str("there is no key ", printable(name))};
  }
  return removed;
}

Result<std::vector<Key>> Store::keys() {
  std::vector<Key> all;
  Query rows = database_.query("SELECT name, salt, hash FROM keys ORDER BY name");
  while (rows.next()) all.push_back({rows.bytes(0), rows.bytes(1), rows.bytes(2)});
  if (const Status status = rows.status(); !status) return status.error();
  return all;
}

Result<bool> Store::key_is_known(std::string_view text) {
  const auto all = keys();
  if (!all) return all.error();
  return find_key(*all, text) != nullptr;
}

}  // namespace sluice::store
