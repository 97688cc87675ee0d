#include "store/store.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "store/journal_queries.h"
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

Error cut_off(const std::string& path) {
  return {ErrorCode::io, str(path, " is damaged (it is cut off): restore it from a backup, or move it away to begin ",
                             "with an empty one")};
}

// SQLite takes a file that is shorter than its header for a new one.
Status check_header(const std::string& path) {
  constexpr std::uintmax_t kHeaderBytes = 100;
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (!none && size > 0 && size < kHeaderBytes) return cut_off(path);
  return Done{};
}

// SQLite fills the last page up with zeros when a part of it is missing.
Status check_length(Database& database) {
  const auto pages = database.integer("PRAGMA page_count");
  if (!pages) return pages.error();
  const auto page_bytes = database.integer("PRAGMA page_size");
  if (!page_bytes) return page_bytes.error();
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(database.path(), failed);
  if (failed) return Error{ErrorCode::io, str(database.path(), " cannot be read: ", failed.message())};
  if (size < static_cast<std::uintmax_t>(*pages * *page_bytes)) return cut_off(database.path());
  return Done{};
}

// After a clean end there is no WAL, and the file has to be whole without one.
Result<Database> open_database(const std::string& directory, const Options& options) {
  const std::string path = database_path(directory);
  std::error_code none;
  const bool clean = !std::filesystem::exists(path + "-wal", none);
  if (const Status whole = check_header(path); !whole) return whole.error();
  auto database = Database::open(path, Access::write);
  if (!database) return database;
  Status ready = clean ? check_length(*database) : Done{};
  if (ready) ready = migrate(*database, migrations(), directory);
  if (ready) ready = configure(*database, options.durability);
  if (!ready) return ready.error();
  database->limit_values(options.value_max);
  return database;
}

}  // namespace

Result<Store> Store::open(const std::string& directory, const Options& options) {
  CHECK(options.finished_max > 0);
  auto lock = DirectoryLock::take(directory);
  if (!lock) return lock.error();
  auto database = open_database(directory, options);
  if (!database) return database.error();
  Store store(directory, options, std::move(lock).value(), std::move(database).value());
  Savepoint whole(store.database_);  // lowered bounds may forget many: one commit for all
  Status bounded = whole.begun();
  if (bounded) bounded = store.forget_beyond_bounds();
  if (bounded) bounded = whole.keep();
  if (!bounded) return bounded.error();
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
  return profile_of(database_, function);
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
