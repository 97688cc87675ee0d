// The part of Store that keeps applications.
#include <limits>
#include <set>

#include "base/text.h"
#include "store/store.h"

namespace sluice::store {
namespace {

Status check_files(const DeployedApplication& application) {
  std::set<std::string_view> paths;
  for (const File& file : application.files) {
    if (paths.insert(file.path).second) continue;
    return Error{ErrorCode::invalid,
                 str("application ", printable(application.name), " has the file ", printable(file.path), " twice")};
  }
  return Done{};
}

Status remove_current(Database& database, const std::string& tenant, const std::string& name) {
  Status removed = database.run("DELETE FROM application_files WHERE tenant = ? AND name = ?", tenant, name);
  if (removed) removed = database.run("DELETE FROM applications WHERE tenant = ? AND name = ?", tenant, name);
  return removed;
}

Status put_files(Database& database, const DeployedApplication& application) {
  for (const File& file : application.files) {
    Status put = database.run("INSERT INTO application_files VALUES(?, ?, ?, ?)", application.tenant, application.name,
                              file.path, Blob{file.content});
    if (!put) return put;
  }
  return Done{};
}

// Counted apart from the applications, so that a removed one leaves its number behind.
Result<std::uint32_t> take_version(Database& database, const DeployedApplication& application) {
  Query next = database.query(
      "INSERT INTO application_versions VALUES(?, ?, 1) ON CONFLICT(tenant, name) DO UPDATE SET last = last + 1 "
      "RETURNING last",
      application.tenant, application.name);
  std::int64_t version = 0;
  while (next.next()) version = next.integer(0);
  if (const Status status = next.status(); !status) return status.error();
  if (version < 1 || version > std::numeric_limits<std::uint32_t>::max()) {
    return Error{ErrorCode::io, str(database.path(), " is damaged: application ", printable(application.name),
                                    " has version ", version)};
  }
  return static_cast<std::uint32_t>(version);
}

Status load_files(Database& database, DeployedApplication& application) {
  Query files =
      database.query("SELECT path, content FROM application_files WHERE tenant = ? AND name = ? ORDER BY rowid",
                     application.tenant, application.name);
  while (files.next()) application.files.push_back({files.bytes(0), files.bytes(1)});
  return files.status();
}

}  // namespace

Result<std::uint32_t> Store::put_application(const DeployedApplication& application) {
  if (const Status good = check_files(application); !good) return good.error();
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun().error();
  const auto version = take_version(database_, application);
  if (!version) return version;
  Status put = remove_current(database_, application.tenant, application.name);
  if (put) {
    put = database_.run("INSERT INTO applications VALUES(?, ?, ?, ?, ?)", application.tenant, application.name,
                        *version, application.deployed_at.count_ns(), application.main);
  }
  if (put) put = put_files(database_, application);
  if (put) put = whole.keep();
  if (!put) return put.error();
  return *version;
}

Result<std::vector<DeployedApplication>> Store::applications() {
  std::vector<DeployedApplication> all;
  Query rows =
      database_.query("SELECT tenant, name, version, deployed_at, main FROM applications ORDER BY tenant, name");
  while (rows.next()) {
    all.push_back({.tenant = rows.bytes(0),
                   .name = rows.bytes(1),
                   .version = static_cast<std::uint32_t>(rows.integer(2)),
                   .deployed_at = Time::from_ns(rows.integer(3)),
                   .main = rows.bytes(4)});
    if (const Status loaded = load_files(database_, all.back()); !loaded) return loaded.error();
  }
  if (const Status status = rows.status(); !status) return status.error();
  return all;
}

Status Store::remove_application(const std::string& tenant, const std::string& name) {
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun();
  if (const Status removed = remove_current(database_, tenant, name); !removed) return removed;
  if (database_.changes() == 0) {
    return Error{ErrorCode::not_found, str("there is no application ", printable(name))};
  }
  return whole.keep();
}

}  // namespace sluice::store
