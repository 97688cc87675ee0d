// Pictures of 8 bits a channel, in files (PNG, binary PGM and PPM) and as tensors: FP32 [channels, height, width] in
// 0..1.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/tensor_json.h"

namespace sluice::cli {

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::uint32_t channels = 3;  // 1 grey, 3 RGB, 4 RGBA
  std::string pixels;          // rows from the top, channels side by side
  friend bool operator==(const Picture&, const Picture&) = default;
};
inline constexpr std::uint64_t picture_pixels_max = 1u << 26;

// Of any of the formats; an error says what is not supported.
[[nodiscard]] Result<Picture> decode_picture(std::string_view file);

[[nodiscard]] engine::OwnTensor tensor_of(const std::string& name, const Picture& picture);
// Of a tensor [C, H, W] or [1, C, H, W] of FP32; what is outside of 0..1 is cut. An error if it is no picture.
[[nodiscard]] Result<Picture> picture_of(const engine::OwnTensor& tensor);

}  // namespace sluice::cli
