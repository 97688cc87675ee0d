// A small reader and writer of PNG: 8 bits, grey, RGB or RGBA, not interlaced; everything else is refused by name.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/picture.h"

namespace sluice::cli {

[[nodiscard]] bool is_png(std::string_view file);
// REQUIRES: is_png(file). Any bytes may follow; checksums are checked.
[[nodiscard]] Result<Picture> decode_png(std::string_view file);
[[nodiscard]] std::string encode_png(const Picture& picture);

}  // namespace sluice::cli
