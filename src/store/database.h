// Database: one connection to an SQLite file, and Query, one run of a statement on it. The rest of store/ speaks SQL
// through these two only. One thread at a time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice::store {

class Database;

struct Blob {
  std::string_view bytes;
};

// Walks the rows of one statement. Its statement is free for the next run when it goes.
class Query {
 public:
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  // False: there are no more rows, or something failed; status() tells which.
  [[nodiscard]] bool next();
  [[nodiscard]] Status status() const;

  // Of the row that next() went to; columns count from 0.
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string bytes(int column) const;  // text or blob

 private:
  friend class Database;
  Query(const Database& database, std::string_view sql, sqlite3_stmt* statement);
  void bind(int at, std::int64_t value);
  void bind(int at, std::uint32_t value) { bind(at, static_cast<std::int64_t>(value)); }
  void bind(int at, double value);
  void bind(int at, std::string_view text);
  void bind(int at, Blob blob);
  template <class T>
  void bind(int at, const std::optional<T>& value) {
    if (value) bind(at, *value);  // else: NULL, as every parameter is to begin with
  }
  void check(int code);

  const Database* database_;
  sqlite3_stmt* statement_;
  std::optional<Error> error_;
};

enum class Access : std::uint8_t { write, read };

class Database {
 public:
  // Access::write makes the file if there is none.
  [[nodiscard]] static Result<Database> open(const std::string& path, Access access);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  // REQUIRES: `sql` is one statement that no other Query is walking; `values`, one for each of its question marks,
  // outlive the query.
  template <class... Values>
  [[nodiscard]] Query query(std::string_view sql, const Values&... values) {
    Query out(*this, sql, prepared(sql));
    int at = 0;
    (out.bind(++at, values), ...);
    return out;
  }
  // For statements without rows.
  template <class... Values>
  [[nodiscard]] Status run(std::string_view sql, const Values&... values) {
    Query walk = query(sql, values...);
    while (walk.next()) continue;
    return walk.status();
  }
  // Several statements, without values.
  [[nodiscard]] Status script(const std::string& sql);
  // The one value that `sql` gives; nothing: no row, or NULL.
  template <class... Values>
  [[nodiscard]] Result<std::optional<std::string>> value(std::string_view sql, const Values&... values) {
    Query walk = query(sql, values...);
    std::optional<std::string> found;
    while (walk.next()) {
      if (!walk.is_null(0)) found = walk.bytes(0);
    }
    if (const Status status = walk.status(); !status) return status.error();
    return found;
  }
  // The one integer that `sql` gives.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql);

  // Of one value that is written from now on; SQLite itself keeps no more than a gigabyte.
  void limit_values(Bytes most);
  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] std::int64_t changes() const;  // rows that the last statement wrote
  [[nodiscard]] const std::string& path() const { return path_; }
  // What SQLite's `code` means for whoever looks after the data directory.
  [[nodiscard]] Error failure(int code) const;

 private:
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  // Statements are kept, because preparing one takes longer than running it. Null: it cannot be prepared.
  [[nodiscard]] sqlite3_stmt* prepared(std::string_view sql);

  sqlite3* handle_;
  std::string path_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// What is done while one lives happens as a whole, inside of a transaction or without one: it is undone at the end
// unless kept.
class Savepoint {
 public:
  explicit Savepoint(Database& database);
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  ~Savepoint();
  [[nodiscard]] Status begun() const { return begun_; }
  [[nodiscard]] Status keep();

 private:
  Database& database_;
  Status begun_;
  bool open_;
};

}  // namespace sluice::store
