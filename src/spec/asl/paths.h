// The paths of ASL that Sluice understands: "$", "$.name", "$.name.name", and a fixed position in the results of a
// Parallel or all items of a Map ("$[0].name", "$.both[1].name", "$[*].name").
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::spec::asl {

struct PathStep {
  enum class Kind { key, position, every };
  Kind kind = Kind::key;
  std::string_view key;  // into the text that was parsed
  std::size_t position = 0;
};
using Path = std::vector<PathStep>;

// The steps after "$", or why the path is not supported.
[[nodiscard]] Result<Path> parse_path(std::string_view text);

}  // namespace sluice::spec::asl
