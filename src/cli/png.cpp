#include "cli/png.h"

#include <png.h>

#include "base/check.h"
#include "base/text.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kEnd("\0\0\0\0IEND\xAE\x42\x60\x82", 12);  // the last chunk with its checksum

Error broken(std::string_view what) {
  return {ErrorCode::invalid, str("the PNG file is broken: ", what)};
}

png_uint_32 format_of(std::uint32_t channels) {
  return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

// What libpng holds while a picture is read or written.
struct Image {
  Image() { value.version = PNG_IMAGE_VERSION; }
  ~Image() { ::png_image_free(&value); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  png_image value{};
};

}  // namespace

bool is_png(std::string_view file) {
  return file.starts_with(kSignature);
}

Result<Picture> decode_png(std::string_view file) {
  CHECK(is_png(file));
  // libpng is done when it has all rows, whatever comes then.
  if (file.find(kEnd) == std::string_view::npos) return broken("it is cut off");
  Image image;
  if (::png_image_begin_read_from_memory(&image.value, file.data(), file.size()) == 0)
    return broken(image.value.message);
  Picture out{.width = image.value.width, .height = image.value.height, .pixels = {}};
  if (std::uint64_t{out.width} * out.height > picture_pixels_max) {
    return Error{ErrorCode::too_large,
                 str(out.width, " x ", out.height, " pixels, at most ", picture_pixels_max, " in all are read")};
  }
  const bool alpha = (image.value.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  out.channels = alpha ? 4 : (image.value.format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
  image.value.format = format_of(out.channels);
  out.pixels.resize(std::size_t{out.width} * out.height * out.channels);
  if (::png_image_finish_read(&image.value, nullptr, out.pixels.data(), 0, nullptr) == 0)
    return broken(image.value.message);
  return out;
}

std::string encode_png(const Picture& picture) {
  CHECK(picture.pixels.size() == std::size_t{picture.width} * picture.height * picture.channels);
  Image image;
  image.value.width = picture.width;
  image.value.height = picture.height;
  image.value.format = format_of(picture.channels);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image.value);
  std::string out(size, '\0');
  CHECK(::png_image_write_to_memory(&image.value, out.data(), &size, 0, picture.pixels.data(), 0, nullptr) != 0);
  out.resize(size);
  return out;
}

}  // namespace sluice::cli
