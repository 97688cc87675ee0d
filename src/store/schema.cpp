#include "store/schema.h"

#include <array>
#include <string>

#include "base/text.h"

namespace sluice::store {
namespace {

constexpr std::int64_t kOurs = 0x536C7563;  // "Sluc", in the header of the file

// Blobs are last in their rows: what precedes them is read without them. Totals are kept by triggers, so that they are
// right after any crash or undone transaction and the bounds of the journal cost no scan. State 0 is "running".
constexpr std::string_view kFirst = R"sql(
  CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE application_versions(name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE applications(name TEXT PRIMARY KEY, version INTEGER NOT NULL, deployed_at INTEGER NOT NULL,
                            main TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE application_files(name TEXT NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL,
                                 UNIQUE(name, path)) STRICT;

  CREATE TABLE profiles(function INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;
  CREATE TABLE keys(name TEXT PRIMARY KEY, salt BLOB NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE requests(id INTEGER PRIMARY KEY, application TEXT NOT NULL, arrival INTEGER NOT NULL,
                        objective INTEGER NOT NULL, timeout INTEGER, priority INTEGER NOT NULL,
                        state INTEGER NOT NULL DEFAULT 0, finished INTEGER, cost REAL, stage TEXT, error TEXT,
                        output_bytes INTEGER, inputs BLOB, outputs BLOB) STRICT;
  CREATE INDEX requests_of_application ON requests(application, id);
  CREATE INDEX unfinished_requests ON requests(id) WHERE state = 0;
  CREATE INDEX finished_requests ON requests(finished, id) WHERE state <> 0;

  CREATE TABLE totals(finished INTEGER NOT NULL, output_bytes INTEGER NOT NULL) STRICT;
  INSERT INTO totals VALUES(0, 0);
  CREATE TRIGGER request_finished AFTER UPDATE OF state ON requests WHEN OLD.state = 0 AND NEW.state <> 0 BEGIN
    UPDATE totals SET finished = finished + 1, output_bytes = output_bytes + NEW.output_bytes;
  END;
  CREATE TRIGGER request_forgotten AFTER DELETE ON requests WHEN OLD.state <> 0 BEGIN
    UPDATE totals SET finished = finished - 1, output_bytes = output_bytes - OLD.output_bytes;
  END;
)sql";

// The caller's id, and the version that served the request. Added behind the blobs they could not be read without them,
// so the table is written anew; that drops its indexes and triggers, not the totals.
constexpr std::string_view kCallers = R"sql(
  CREATE TABLE requests_with_callers(
                        id INTEGER PRIMARY KEY, application TEXT NOT NULL, caller_id TEXT NOT NULL, arrival INTEGER NOT NULL,
                        objective INTEGER NOT NULL, timeout INTEGER, priority INTEGER NOT NULL,
                        state INTEGER NOT NULL DEFAULT 0, finished INTEGER, version INTEGER, cost REAL, stage TEXT,
                        error TEXT, output_bytes INTEGER, inputs BLOB, outputs BLOB) STRICT;
  INSERT INTO requests_with_callers
    SELECT id, application, '', arrival, objective, timeout, priority, state, finished, NULL, cost, stage, error,
           output_bytes, inputs, outputs FROM requests;
  DROP TABLE requests;
  ALTER TABLE requests_with_callers RENAME TO requests;
  CREATE INDEX requests_of_application ON requests(application, id);
  CREATE INDEX unfinished_requests ON requests(id) WHERE state = 0;
  CREATE INDEX finished_requests ON requests(finished, id) WHERE state <> 0;
  CREATE TRIGGER request_finished AFTER UPDATE OF state ON requests WHEN OLD.state = 0 AND NEW.state <> 0 BEGIN
    UPDATE totals SET finished = finished + 1, output_bytes = output_bytes + NEW.output_bytes;
  END;
  CREATE TRIGGER request_forgotten AFTER DELETE ON requests WHEN OLD.state <> 0 BEGIN
    UPDATE totals SET finished = finished - 1, output_bytes = output_bytes - OLD.output_bytes;
  END;
)sql";

// Keys belong to tenants and have a role. There were none before. Quotas that are NULL are no limits.
constexpr std::string_view kTenants = R"sql(
  CREATE TABLE tenants(name TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, requests_per_second REAL,
                       requests INTEGER, bytes INTEGER, functions INTEGER, vcpu INTEGER, slices INTEGER)
                       STRICT, WITHOUT ROWID;
  INSERT INTO tenants(name, number) VALUES('default', 0);
  DROP TABLE keys;
  CREATE TABLE keys(name TEXT PRIMARY KEY, tenant TEXT NOT NULL, role TEXT NOT NULL, made INTEGER NOT NULL,
                    hash BLOB NOT NULL) STRICT, WITHOUT ROWID;
)sql";

// Applications and requests belong to tenants, those of before to `default`. Written anew for the same reason as above.
constexpr std::string_view kOwners = R"sql(
  CREATE TABLE owned_versions(tenant TEXT NOT NULL, name TEXT NOT NULL, last INTEGER NOT NULL,
                              PRIMARY KEY(tenant, name)) STRICT, WITHOUT ROWID;
  INSERT INTO owned_versions SELECT 'default', name, last FROM application_versions;
  DROP TABLE application_versions;
  ALTER TABLE owned_versions RENAME TO application_versions;
  CREATE TABLE owned_applications(tenant TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
                                  deployed_at INTEGER NOT NULL, main TEXT NOT NULL,
                                  PRIMARY KEY(tenant, name)) STRICT, WITHOUT ROWID;
  INSERT INTO owned_applications SELECT 'default', name, version, deployed_at, main FROM applications;
  DROP TABLE applications;
  ALTER TABLE owned_applications RENAME TO applications;
  CREATE TABLE owned_files(tenant TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL,
                           UNIQUE(tenant, name, path)) STRICT;
  INSERT INTO owned_files SELECT 'default', name, path, content FROM application_files ORDER BY rowid;
  DROP TABLE application_files;
  ALTER TABLE owned_files RENAME TO application_files;

  CREATE TABLE owned_requests(
                        id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, application TEXT NOT NULL, caller_id TEXT NOT NULL,
                        arrival INTEGER NOT NULL, objective INTEGER NOT NULL, timeout INTEGER, priority INTEGER NOT NULL,
                        state INTEGER NOT NULL DEFAULT 0, finished INTEGER, version INTEGER, cost REAL, stage TEXT,
                        error TEXT, output_bytes INTEGER, inputs BLOB, outputs BLOB) STRICT;
  INSERT INTO owned_requests
    SELECT id, 'default', application, caller_id, arrival, objective, timeout, priority, state, finished, version, cost,
           stage, error, output_bytes, inputs, outputs FROM requests;
  DROP TABLE requests;
  ALTER TABLE owned_requests RENAME TO requests;
  CREATE INDEX requests_of_application ON requests(application, id);
  CREATE INDEX requests_of_tenant ON requests(tenant, id);
  CREATE INDEX unfinished_requests ON requests(id) WHERE state = 0;
  CREATE INDEX finished_requests ON requests(finished, id) WHERE state <> 0;
  CREATE TRIGGER request_finished AFTER UPDATE OF state ON requests WHEN OLD.state = 0 AND NEW.state <> 0 BEGIN
    UPDATE totals SET finished = finished + 1, output_bytes = output_bytes + NEW.output_bytes;
  END;
  CREATE TRIGGER request_forgotten AFTER DELETE ON requests WHEN OLD.state <> 0 BEGIN
    UPDATE totals SET finished = finished - 1, output_bytes = output_bytes - OLD.output_bytes;
  END;
)sql";

// Versions that were replaced are kept, and a canary stands beside the one that serves. Role 0 is kept, 1 serves, 2 is
// the canary; its share of the calls is NULL for all others. `served` numbers those that served in their order; NULL:
// it never did, or was gone back from.
constexpr std::string_view kVersions = R"sql(
  CREATE TABLE kept_applications(tenant TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
                                 deployed_at INTEGER NOT NULL, main TEXT NOT NULL, role INTEGER NOT NULL, share REAL,
                                 served INTEGER,
                                 PRIMARY KEY(tenant, name, version)) STRICT, WITHOUT ROWID;
  INSERT INTO kept_applications SELECT tenant, name, version, deployed_at, main, 1, NULL, 1 FROM applications;
  CREATE TABLE kept_files(tenant TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, path TEXT NOT NULL,
                          content BLOB NOT NULL, UNIQUE(tenant, name, version, path)) STRICT;
  INSERT INTO kept_files SELECT f.tenant, f.name, a.version, f.path, f.content FROM application_files f
    JOIN applications a ON a.tenant = f.tenant AND a.name = f.name ORDER BY f.rowid;
  DROP TABLE application_files;
  DROP TABLE applications;
  ALTER TABLE kept_applications RENAME TO applications;
  ALTER TABLE kept_files RENAME TO application_files;
)sql";

constexpr std::array kMigrations{kFirst, kCallers, kTenants, kOwners, kVersions};

Error newer(std::string_view directory, std::int64_t version, std::size_t known) {
  return {ErrorCode::invalid, str("data directory ", directory, " was written by a newer version (schema ", version,
                                  ", this one knows ", known, "): use that version or another directory")};
}

// An empty file has no tables yet; any other one says whose it is.
Status check_owner(Database& database) {
  const auto owner = database.integer("PRAGMA application_id");
  if (!owner) return owner.error();
  const auto tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*owner == kOurs || (*owner == 0 && *tables == 0)) return Done{};
  return Error{ErrorCode::invalid, str(database.path(), " is a database of another program")};
}

std::string script_from(std::span<const std::string_view> steps, std::size_t version) {
  std::string script = "BEGIN IMMEDIATE;";
  for (std::size_t i = version; i < steps.size(); ++i) script += steps[i];
  return str(script, "PRAGMA application_id = ", kOurs, "; PRAGMA user_version = ", steps.size(), "; COMMIT");
}

}  // namespace

std::string database_path(const std::string& directory) {
  return directory + "/sluice.db";
}

std::span<const std::string_view> migrations() {
  return kMigrations;
}

Status migrate(Database& database, std::span<const std::string_view> steps, std::string_view directory) {
  if (const Status ours = check_owner(database); !ours) return ours.error();
  const auto version = database.integer("PRAGMA user_version");
  if (!version) return version.error();
  const auto known = static_cast<std::int64_t>(steps.size());
  if (*version < 0 || *version > known) return newer(directory, *version, steps.size());
  if (*version == known) return Done{};
  Status migrated = database.script(script_from(steps, static_cast<std::size_t>(*version)));
  if (!migrated && database.in_transaction()) (void)database.run("ROLLBACK");
  return migrated;
}

}  // namespace sluice::store
