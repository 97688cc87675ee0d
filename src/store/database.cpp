#include "store/database.h"

#include <sqlite3.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace sluice::store {
namespace {

// A reader and the writer meet only when one of them opens or closes the file.
constexpr int kBusyMs = 5'000;

Error disk_is_full(const std::string& path) {
  struct statvfs disk {};
  std::string free = "unknown";
  if (::statvfs(path.c_str(), &disk) == 0) free = str(disk.f_bavail * disk.f_frsize / 1'000'000, " MB");
  return {ErrorCode::io, str("the disk of ", path, " is full (", free,
                             " free): nothing was kept; make room there or move the data directory")};
}

Error not_opened(sqlite3* handle, const std::string& path) {
  return {ErrorCode::io, str(path, " cannot be opened: ", handle != nullptr ? sqlite3_errmsg(handle) : "no memory")};
}

}  // namespace

Query::Query(const Database& database, std::string_view sql, sqlite3_stmt* statement)
    : database_(&database), statement_(statement) {
  if (statement_ == nullptr) {
    error_ = database.failure(SQLITE_ERROR);
  } else {
    CHECK_MSG(sqlite3_stmt_busy(statement_) == 0, sql);
  }
}

Query::Query(Query&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      error_(std::move(other.error_)) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Query::check(int code) {
  if (code != SQLITE_OK && !error_) error_ = database_->failure(code);
}

void Query::bind(int at, std::int64_t value) {
  if (!error_) check(sqlite3_bind_int64(statement_, at, value));
}

void Query::bind(int at, double value) {
  if (!error_) check(sqlite3_bind_double(statement_, at, value));
}

// A null pointer would bind NULL, also where the text is only empty.
void Query::bind(int at, std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  if (!error_) check(sqlite3_bind_text64(statement_, at, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Query::bind(int at, Blob blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  if (!error_) check(sqlite3_bind_blob64(statement_, at, data, blob.bytes.size(), SQLITE_STATIC));
}

bool Query::next() {
  if (error_) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) check(code);
  return false;
}

Status Query::status() const {
  if (error_) return *error_;
  return Done{};
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Query::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Query::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Query::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<Database> Database::open(const std::string& path, Access access) {
  sqlite3* handle = nullptr;
  const int mode = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, mode | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, path);  // also closes what could not be opened
  if (code != SQLITE_OK) return not_opened(handle, path);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMs);
  return database;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      statements_(std::move(other.statements_)) {
  other.statements_.clear();
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

sqlite3_stmt* Database::prepared(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second;
  sqlite3_stmt* statement = nullptr;
  const auto length = static_cast<int>(sql.size());
  if (sqlite3_prepare_v3(handle_, sql.data(), length, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return nullptr;
  }
  statements_.emplace(sql, statement);
  return statement;
}

Status Database::script(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Done{};
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  Query walk = query(sql);
  if (walk.next()) return walk.integer(0);
  if (const Status status = walk.status(); !status) return status.error();
  return Error{ErrorCode::internal, str(path_, ": no answer to ", sql)};
}

void Database::limit_values(Bytes most) {
  constexpr std::int64_t kLeast = 100'000;  // statements count as well
  const std::int64_t bytes = std::clamp<std::int64_t>(most.count(), kLeast, std::numeric_limits<int>::max());
  (void)sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, static_cast<int>(bytes));
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

Error Database::failure(int code) const {
  if (code == SQLITE_ERROR) code = sqlite3_extended_errcode(handle_);  // of a statement that could not be prepared
  const int system = sqlite3_system_errno(handle_);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return disk_is_full(path_);
    case SQLITE_IOERR:
      if (system == ENOSPC || system == EDQUOT) return disk_is_full(path_);
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::io, str(path_, " is damaged (", sqlite3_errmsg(handle_),
                                 "): restore it from a backup, or move it away to begin with an empty one")};
    case SQLITE_TOOBIG:
      return {ErrorCode::too_large, str(path_, ": a value of more than ",
                                        sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, -1), " bytes cannot be kept")};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::already_exists, str(path_, ": ", sqlite3_errmsg(handle_))};
    default:
      break;
  }
  return {ErrorCode::io, str(path_, ": ", sqlite3_errmsg(handle_), " (SQLite ", code, ")")};
}

Savepoint::Savepoint(Database& database)
    : database_(database), begun_(database.run("SAVEPOINT whole")), open_(begun_.ok()) {}

Savepoint::~Savepoint() {
  if (!open_ || !database_.in_transaction()) return;  // a full disk may have undone everything already
  (void)database_.run("ROLLBACK TO whole");
  (void)database_.run("RELEASE whole");
}

Status Savepoint::keep() {
  Status kept = database_.run("RELEASE whole");
  if (kept) open_ = false;
  return kept;
}

}  // namespace sluice::store
