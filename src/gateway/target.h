// The target of a request: the parts of its path and the values of its query.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::gateway {

// "/v2/models/m" → v2, models, m, as sent; nothing if it does not begin with '/'. A last '/' adds nothing.
[[nodiscard]] std::vector<std::string_view> path_parts(std::string_view path);
// With %41 as A; nothing if it is broken.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);
// The first value of `key`, decoded.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view key);

}  // namespace sluice::gateway
