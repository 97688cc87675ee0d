#include "cli/picture.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "cli/png.h"
#include "cli/tensor_text.h"

namespace sluice::cli {
namespace {

// The next number of a PNM header; comments are skipped.
std::optional<std::uint32_t> header_number(std::string_view file, std::size_t& at) {
  while (at < file.size() && (std::isspace(static_cast<unsigned char>(file[at])) != 0 || file[at] == '#')) {
    if (file[at] == '#') at = std::min(file.find('\n', at), file.size() - 1);
    ++at;
  }
  std::uint32_t value = 0;
  const std::size_t begin = at;
  while (at < file.size() && std::isdigit(static_cast<unsigned char>(file[at])) != 0 && at - begin < 9)
    value = value * 10 + static_cast<std::uint32_t>(file[at++] - '0');
  if (at == begin) return std::nullopt;
  return value;
}

Result<Picture> decode_pnm(std::string_view file) {
  std::size_t at = 2;
  const auto width = header_number(file, at), height = header_number(file, at), most = header_number(file, at);
  if (!width || !height || !most || *width == 0 || *height == 0)
    return Error{ErrorCode::invalid, "the header of the PNM file is broken"};
  if (*most != 255) return Error{ErrorCode::invalid, str("PNM files with a maximum of 255 are read, this has ", *most)};
  Picture out{.width = *width, .height = *height, .channels = file[1] == '6' ? 3u : 1u, .pixels = {}};
  if (std::uint64_t{*width} * *height > picture_pixels_max) return Error{ErrorCode::too_large, "too many pixels"};
  const std::size_t bytes = std::size_t{out.width} * out.height * out.channels;
  ++at;  // one white space after the header
  if (at > file.size() || file.size() - at < bytes) return Error{ErrorCode::invalid, "the PNM file is cut off"};
  out.pixels = file.substr(at, bytes);
  return out;
}

}  // namespace

Result<Picture> decode_picture(std::string_view file) {
  if (is_png(file)) return decode_png(file);
  if (file.starts_with("P5") || file.starts_with("P6")) return decode_pnm(file);
  return Error{ErrorCode::invalid, "is no PNG and no binary PGM or PPM; convert it first"};
}

engine::OwnTensor tensor_of(const std::string& name, const Picture& picture) {
  const std::size_t plane = std::size_t{picture.width} * picture.height;
  engine::OwnTensor out{{name, DataType::fp32, {picture.channels, picture.height, picture.width}}, {}};
  out.bytes.resize(plane * picture.channels * sizeof(float));
  for (std::size_t c = 0; c < picture.channels; ++c) {
    for (std::size_t i = 0; i < plane; ++i) {
      const float value =
          static_cast<float>(static_cast<unsigned char>(picture.pixels[i * picture.channels + c])) / 255;
      std::memcpy(out.bytes.data() + (c * plane + i) * sizeof value, &value, sizeof value);
    }
  }
  return out;
}

Result<Picture> picture_of(const engine::OwnTensor& tensor) {
  data::Shape shape = tensor.info.shape;
  if (shape.size() == 4 && shape.front() == 1) shape.pop_front();
  const bool right = tensor.info.type == DataType::fp32 && shape.size() == 3 &&
                     (shape[0] == 1 || shape[0] == 3 || shape[0] == 4) && shape[1] > 0 && shape[2] > 0 &&
                     data::byte_size(DataType::fp32, shape) == tensor.bytes.size();
  if (!right) {
    return Error{ErrorCode::invalid, str("output '", tensor.info.name, "' is ", type_text(tensor.info),
                                         ", a picture is FP32 [1 or 3 or 4, height, width]; write .npy instead")};
  }
  Picture out{.width = static_cast<std::uint32_t>(shape[2]),
              .height = static_cast<std::uint32_t>(shape[1]),
              .channels = static_cast<std::uint32_t>(shape[0]),
              .pixels = {}};
  const std::size_t plane = std::size_t{out.width} * out.height;
  out.pixels.resize(plane * out.channels);
  for (std::size_t c = 0; c < out.channels; ++c) {
    for (std::size_t i = 0; i < plane; ++i) {
      float value = 0;
      std::memcpy(&value, tensor.bytes.data() + (c * plane + i) * sizeof value, sizeof value);
      value = value > 0 ? std::min(value, 1.0F) : 0;  // also what is no number
      out.pixels[i * out.channels + c] = static_cast<char>(static_cast<unsigned char>(std::lround(value * 255)));
    }
  }
  return out;
}

}  // namespace sluice::cli
