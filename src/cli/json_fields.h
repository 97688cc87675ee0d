// Fields of a server's answer. What is absent or of another type reads as nothing, so that a newer or older server
// spoils no more than a column.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/json.h"

namespace sluice::cli {

[[nodiscard]] std::string text_at(const data::Json& json, std::string_view key);
[[nodiscard]] std::optional<double> number(const data::Json& json);
[[nodiscard]] std::optional<double> maybe_number_at(const data::Json& json, std::string_view key);
[[nodiscard]] double number_at(const data::Json& json, std::string_view key);  // 0: absent
[[nodiscard]] std::int64_t whole_at(const data::Json& json, std::string_view key);
[[nodiscard]] bool flag_at(const data::Json& json, std::string_view key);
[[nodiscard]] std::span<const data::Json> items_at(const data::Json& json, std::string_view key);
// The value of `key`, null if there is none.
[[nodiscard]] const data::Json& object_at(const data::Json& json, std::string_view key);

}  // namespace sluice::cli
