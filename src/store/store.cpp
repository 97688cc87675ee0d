#include "store/store.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "store/schema.h"

namespace sluice::store {
namespace {

Status use_wal(Database& database) {
  Query mode = database.query("PRAGMA journal_mode = WAL");
  const bool answered = mode.next();
  if (const Status status = mode.status(); !status) return status.error();
  if (answered && mode.bytes(0) == "wal") return Done{};
  return Error{ErrorCode::io, str(database.path(), " is on a file system without shared memory, which SQLite's WAL ",
                                  "needs: use a directory on a local disk")};
}

// In WAL mode a commit is in the page cache of the system with NORMAL, so it survives the process, and on the disk with
// FULL. Either way the file stays whole. A WAL that a large batch has blown up is cut again.
Status configure(Database& database, Durability durability) {
  if (const Status wal = use_wal(database); !wal) return wal.error();
  return database.script(
      str("PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 4000; ",
          "PRAGMA cell_size_check = ON; PRAGMA synchronous = ", durability == Durability::power ? "FULL" : "NORMAL"));
}

}  // namespace

Result<Store> Store::open(const std::string& directory, const Options& options) {
  CHECK(options.finished_max > 0);
  auto lock = DirectoryLock::take(directory);
  if (!lock) return lock.error();
  auto database = Database::open(database_path(directory), Access::write);
  if (!database) return database.error();
  if (const Status migrated = migrate(*database, migrations(), directory); !migrated) return migrated.error();
  if (const Status configured = configure(*database, options.durability); !configured) return configured.error();
  Store store(directory, options, std::move(lock).value(), std::move(database).value());
  if (const Status bounded = store.forget_beyond_bounds(); !bounded) return bounded.error();
  return store;
}

Status Store::begin_batch() {
  CHECK(!in_batch());
  return database_.run("BEGIN IMMEDIATE");
}

Status Store::commit() {
  if (!in_batch()) return Error{ErrorCode::io, str(database_.path(), ": the batch was undone by an earlier failure")};
  Status committed = database_.run("COMMIT");
  if (!committed && in_batch()) (void)database_.run("ROLLBACK");
  return committed;
}

Status Store::put_profile(FunctionVersion function, std::string_view rows) {
  return database_.run("INSERT OR REPLACE INTO profiles VALUES(?, ?)", static_cast<std::int64_t>(function), Blob{rows});
}

Result<std::optional<std::string>> Store::profile(FunctionVersion function) {
  return database_.value("SELECT rows FROM profiles WHERE function = ?", static_cast<std::int64_t>(function));
}

Result<std::optional<std::string>> Store::get(std::string_view name) {
  return database_.value("SELECT value FROM meta WHERE name = ?", name);
}

Status Store::set(std::string_view name, std::string_view value) {
  return database_.run("INSERT OR REPLACE INTO meta VALUES(?, ?)", name, value);
}

Result<std::uint64_t> Store::next_epoch() {
  const auto epoch = database_.value(
      "INSERT INTO meta VALUES('epoch', '1') ON CONFLICT(name) DO UPDATE SET value = value + 1 RETURNING value");
  if (!epoch) return epoch.error();
  const auto number = *epoch ? parse_int(**epoch) : std::nullopt;
  if (!number) return Error{ErrorCode::io, str(database_.path(), " is damaged: its epoch is not a number")};
  return static_cast<std::uint64_t>(*number);
}

}  // namespace sluice::store
