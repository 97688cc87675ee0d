// PNG files by libpng. Read are all kinds, as grey, RGB or RGBA of 8 bits a channel; written are those three.
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
