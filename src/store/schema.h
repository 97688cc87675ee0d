// The tables of a data directory and how older ones become the newest. Used by Store when it opens a database.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/database.h"

namespace sluice::store {

[[nodiscard]] std::string database_path(const std::string& directory);

// Migration i makes version i + 1 of what version i was. One that has been released is never changed: add another.
[[nodiscard]] std::span<const std::string_view> migrations();

// Runs what is missing, all or nothing. A database of a newer version or of another program is refused untouched;
// `directory` is for the text of that.
[[nodiscard]] Status migrate(Database& database, std::span<const std::string_view> steps, std::string_view directory);

}  // namespace sluice::store
