// Files that a user names, in one piece.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::cli {

// At most 1 GiB. An error names the file.
[[nodiscard]] Result<std::string> read_file(const std::string& path);
[[nodiscard]] Status write_file(const std::string& path, std::string_view content);

}  // namespace sluice::cli
