// The part of Store that keeps applications.
#include <limits>
#include <set>
#include <tuple>

#include "base/text.h"
#include "domain/limits.h"
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

Status put_files(Database& database, const DeployedApplication& application, std::uint32_t version) {
  for (const File& file : application.files) {
    Status put = database.run("INSERT INTO application_files VALUES(?, ?, ?, ?, ?)", application.tenant,
                              application.name, version, file.path, Blob{file.content});
    if (!put) return put;
  }
  return Done{};
}

Status remove_version(Database& database, const std::string& tenant, const std::string& name, std::uint32_t version) {
  Status removed = database.run("DELETE FROM application_files WHERE tenant = ? AND name = ? AND version = ?", tenant,
                                name, version);
  if (removed) {
    removed =
        database.run("DELETE FROM applications WHERE tenant = ? AND name = ? AND version = ?", tenant, name, version);
  }
  return removed;
}

Status keep_instead(Database& database, const std::string& tenant, const std::string& name, VersionRole role) {
  return database.run("UPDATE applications SET role = 0, share = NULL WHERE tenant = ? AND name = ? AND role = ?",
                      tenant, name, static_cast<std::int64_t>(role));
}

// It is the last that served; one that is gone back to keeps its place, if it has one.
Status note_served(Database& database, const std::string& tenant, const std::string& name, std::uint32_t version,
                   bool back) {
  return database.run(
      "UPDATE applications SET served = (SELECT coalesce(max(served), 0) + 1 FROM applications WHERE tenant = ? AND "
      "name = ?) WHERE tenant = ? AND name = ? AND version = ? AND (served IS NULL OR ? = 0)",
      tenant, name, tenant, name, version, static_cast<std::int64_t>(back));
}

// The oldest of those that are only kept go: by number, and where they are large by size.
Status forget_oldest(Database& database, const std::string& tenant, const std::string& name) {
  std::vector<std::uint32_t> gone;
  Query kept = database.query(
      "SELECT a.version, (SELECT coalesce(sum(length(f.content)), 0) FROM application_files f WHERE f.tenant = "
      "a.tenant "
      "AND f.name = a.name AND f.version = a.version) FROM applications a WHERE a.tenant = ? AND a.name = ? "
      "AND a.role = 0 ORDER BY a.version DESC",
      tenant, name);
  std::int64_t count = 0, bytes = 0;
  while (kept.next()) {
    bytes += kept.integer(1);
    if (++count <= limits::versions_kept_max && bytes <= limits::versions_kept_bytes_max.count()) continue;
    gone.push_back(static_cast<std::uint32_t>(kept.integer(0)));
  }
  if (const Status status = kept.status(); !status) return status;
  for (const std::uint32_t version : gone) {
    if (const Status removed = remove_version(database, tenant, name, version); !removed) return removed;
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
  Query files = database.query(
      "SELECT path, content FROM application_files WHERE tenant = ? AND name = ? AND version = ? ORDER BY rowid",
      application.tenant, application.name, application.version);
  while (files.next()) application.files.push_back({files.bytes(0), files.bytes(1)});
  return files.status();
}

DeployedApplication application_of(Query& row) {
  DeployedApplication out{.tenant = row.bytes(0),
                          .name = row.bytes(1),
                          .version = static_cast<std::uint32_t>(row.integer(2)),
                          .role = static_cast<VersionRole>(row.integer(5)),
                          .share = std::nullopt,
                          .deployed_at = Time::from_ns(row.integer(3)),
                          .main = row.bytes(4),
                          .files = {},
                          .versions = {}};
  if (!row.is_null(6)) out.share = row.real(6);
  return out;
}

Error none(const std::string& name) {
  return {ErrorCode::not_found, str("there is no application ", printable(name))};
}

}  // namespace

Result<std::uint32_t> Store::put_application(const DeployedApplication& application) {
  if (const Status good = check_files(application); !good) return good.error();
  const auto& [tenant, name] = std::tie(application.tenant, application.name);
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun().error();
  const auto version = take_version(database_, application);
  if (!version) return version;
  Status put = keep_instead(database_, tenant, name, VersionRole::canary);
  if (put && application.role == VersionRole::serving)
    put = keep_instead(database_, tenant, name, VersionRole::serving);
  if (put) {
    put = database_.run("INSERT INTO applications VALUES(?, ?, ?, ?, ?, ?, ?, NULL)", tenant, name, *version,
                        application.deployed_at.count_ns(), application.main,
                        static_cast<std::int64_t>(application.role), application.share);
  }
  if (put && application.role == VersionRole::serving) put = note_served(database_, tenant, name, *version, false);
  if (put) put = put_files(database_, application, *version);
  if (put) put = forget_oldest(database_, tenant, name);
  if (put) put = whole.keep();
  if (!put) return put.error();
  return *version;
}

Result<std::vector<DeployedApplication>> Store::applications() {
  std::vector<DeployedApplication> all;
  Query rows = database_.query(
      "SELECT tenant, name, version, deployed_at, main, role, share FROM applications WHERE role <> 0 "
      "ORDER BY tenant, name, version");
  while (rows.next()) {
    all.push_back(application_of(rows));
    if (const Status loaded = load_files(database_, all.back()); !loaded) return loaded.error();
  }
  if (const Status status = rows.status(); !status) return status.error();
  for (DeployedApplication& one : all) {
    auto kept = versions(one.tenant, one.name);
    if (!kept) return kept.error();
    one.versions = std::move(*kept);
  }
  return all;
}

Result<DeployedApplication> Store::application(const std::string& tenant, const std::string& name,
                                               std::uint32_t version) {
  std::optional<DeployedApplication> found;
  Query row = database_.query(
      "SELECT tenant, name, version, deployed_at, main, role, share FROM applications WHERE tenant = ? AND name = ? "
      "AND version = ?",
      tenant, name, version);
  while (row.next()) found = application_of(row);
  if (const Status status = row.status(); !status) return status.error();
  if (!found) {
    return Error{ErrorCode::not_found, str("version ", version, " of application ", printable(name), " is not kept")};
  }
  if (const Status loaded = load_files(database_, *found); !loaded) return loaded.error();
  return *std::move(found);
}

Result<std::vector<std::uint32_t>> Store::versions(const std::string& tenant, const std::string& name) {
  std::vector<std::uint32_t> out;
  Query rows =
      database_.query("SELECT version FROM applications WHERE tenant = ? AND name = ? ORDER BY version", tenant, name);
  while (rows.next()) out.push_back(static_cast<std::uint32_t>(rows.integer(0)));
  if (const Status status = rows.status(); !status) return status.error();
  return out;
}

Result<std::optional<std::uint32_t>> Store::serving_alike(const DeployedApplication& application) {
  std::optional<std::uint32_t> version;
  Query row = database_.query("SELECT version FROM applications WHERE tenant = ? AND name = ? AND role = 1",
                              application.tenant, application.name);
  while (row.next()) version = static_cast<std::uint32_t>(row.integer(0));
  if (const Status status = row.status(); !status) return status.error();
  if (!version) return version;
  const auto serving = this->application(application.tenant, application.name, *version);
  if (!serving) return serving.error();
  const bool alike = serving->main == application.main && serving->files == application.files;
  return alike ? version : std::nullopt;
}

Status Store::serve_version(const std::string& tenant, const std::string& name, std::uint32_t version, bool back) {
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun();
  Status served = keep_instead(database_, tenant, name, VersionRole::serving);
  if (served) served = keep_instead(database_, tenant, name, VersionRole::canary);
  if (served) {
    served = database_.run("UPDATE applications SET role = 1 WHERE tenant = ? AND name = ? AND version = ?", tenant,
                           name, version);
  }
  if (served && database_.changes() == 0) {
    return Error{ErrorCode::not_found, str("version ", version, " of application ", printable(name), " is not kept")};
  }
  if (served && back) {
    served = database_.run(
        "UPDATE applications SET served = NULL WHERE tenant = ? AND name = ? AND served > (SELECT served FROM "
        "applications WHERE tenant = ? AND name = ? AND version = ?)",
        tenant, name, tenant, name, version);
  }
  if (served) served = note_served(database_, tenant, name, version, back);
  if (served) served = forget_oldest(database_, tenant, name);
  return served ? whole.keep() : served;
}

Result<std::uint32_t> Store::version_before(const std::string& tenant, const std::string& name) {
  std::optional<std::uint32_t> found;
  Query row = database_.query(
      "SELECT a.version FROM applications a JOIN applications s ON s.tenant = a.tenant AND s.name = a.name AND "
      "s.role = 1 WHERE a.tenant = ? AND a.name = ? AND a.served < s.served ORDER BY a.served DESC LIMIT 1",
      tenant, name);
  while (row.next()) found = static_cast<std::uint32_t>(row.integer(0));
  if (const Status status = row.status(); !status) return status.error();
  if (found) return *found;
  return Error{ErrorCode::not_found,
               str("no version of application ", printable(name), " that served before this one is kept")};
}

Status Store::remove_canary(const std::string& tenant, const std::string& name) {
  std::optional<std::uint32_t> version;
  Query row =
      database_.query("SELECT version FROM applications WHERE tenant = ? AND name = ? AND role = 2", tenant, name);
  while (row.next()) version = static_cast<std::uint32_t>(row.integer(0));
  if (const Status status = row.status(); !status) return status;
  if (!version) return Error{ErrorCode::not_found, str("application ", printable(name), " has no canary")};
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun();
  if (const Status removed = remove_version(database_, tenant, name, *version); !removed) return removed;
  return whole.keep();
}

Status Store::remove_application(const std::string& tenant, const std::string& name) {
  Savepoint whole(database_);
  if (!whole.begun()) return whole.begun();
  Status removed = database_.run("DELETE FROM application_files WHERE tenant = ? AND name = ?", tenant, name);
  if (removed) removed = database_.run("DELETE FROM applications WHERE tenant = ? AND name = ?", tenant, name);
  if (!removed) return removed;
  if (database_.changes() == 0) return none(name);
  return whole.keep();
}

}  // namespace sluice::store
