#include "cli/png.h"

#include <zlib.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "base/check.h"
#include "base/text.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t kHeader = 13;

Error broken(std::string_view what) {
  return {ErrorCode::invalid, str("the PNG file is broken: ", what)};
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8u | static_cast<unsigned char>(bytes[i]);
  return out;
}

void append_big_endian(std::string& out, std::uint32_t value) {
  for (const unsigned shift : {24u, 16u, 8u, 0u}) out += static_cast<char>(static_cast<unsigned char>(value >> shift));
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

struct Chunk {
  std::string_view type, content;
};

// The chunk at the beginning of `rest`, which is moved behind it.
Result<Chunk> next_chunk(std::string_view& rest) {
  constexpr std::size_t kAround = 12;  // length, type, checksum
  if (rest.size() < kAround || big_endian(rest) > rest.size() - kAround) return broken("it is cut off");
  const std::size_t length = big_endian(rest);
  const Chunk out{rest.substr(4, 4), rest.substr(8, length)};
  if (checksum(rest.substr(4, 4 + length)) != big_endian(rest.substr(8 + length))) return broken("a checksum");
  rest.remove_prefix(kAround + length);
  return out;
}

Result<Picture> read_header(const Chunk& chunk) {
  if (chunk.type != "IHDR" || chunk.content.size() != kHeader) return broken("it has no header");
  Picture out{.width = big_endian(chunk.content), .height = big_endian(chunk.content.substr(4)), .pixels = {}};
  const int depth = chunk.content[8], colour = chunk.content[9], interlaced = chunk.content[12];
  if (out.width == 0 || out.height == 0) return broken("it has no pixels");
  if (std::uint64_t{out.width} * out.height > picture_pixels_max) {
    return Error{ErrorCode::too_large,
                 str(out.width, " x ", out.height, " pixels, at most ", picture_pixels_max, " in all are read")};
  }
  if (interlaced != 0) return Error{ErrorCode::invalid, "interlaced PNG files are not read"};
  if (depth != 8) return Error{ErrorCode::invalid, str("PNG files of 8 bits a channel are read, this has ", depth)};
  switch (colour) {
    case 0:
      out.channels = 1;
      return out;
    case 2:
      out.channels = 3;
      return out;
    case 6:
      out.channels = 4;
      return out;
    case 3:
      return Error{ErrorCode::invalid, "PNG files with a palette are not read; convert it to RGB"};
    case 4:
      return Error{ErrorCode::invalid, "PNG files of grey with alpha are not read; convert it to grey or RGBA"};
    default:
      return broken(str("colour type ", colour));
  }
}

std::uint8_t paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int by_left = std::abs(guess - left), by_up = std::abs(guess - up), by_corner = std::abs(guess - corner);
  if (by_left <= by_up && by_left <= by_corner) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(by_up <= by_corner ? up : corner);
}

// Takes the filters back; `raw` has a byte with the filter before each row.
Status unfilter(std::string_view raw, Picture& picture) {
  const std::size_t row = std::size_t{picture.width} * picture.channels, step = picture.channels;
  picture.pixels.resize(row * picture.height);
  auto* out = reinterpret_cast<std::uint8_t*>(picture.pixels.data());
  for (std::size_t y = 0; y < picture.height; ++y, out += row) {
    const auto* in = reinterpret_cast<const std::uint8_t*>(raw.data()) + y * (row + 1);
    const int filter = *in++;
    if (filter > 4) return broken(str("filter ", filter));
    for (std::size_t x = 0; x < row; ++x) {
      const int left = x < step ? 0 : out[x - step], up = y == 0 ? 0 : *(out + x - row);
      const int corner = x < step || y == 0 ? 0 : *(out + x - row - step);
      const std::array<int, 5> predicted = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
      out[x] = static_cast<std::uint8_t>(in[x] + predicted[static_cast<std::size_t>(filter)]);
    }
  }
  return Done{};
}

void append_chunk(std::string& out, std::string_view type, std::string_view content) {
  append_big_endian(out, static_cast<std::uint32_t>(content.size()));
  const std::string checked = str(type, content);
  out += checked;
  append_big_endian(out, checksum(checked));
}

}  // namespace

bool is_png(std::string_view file) {
  return file.starts_with(kSignature);
}

Result<Picture> decode_png(std::string_view file) {
  CHECK(is_png(file));
  std::string_view rest = file.substr(kSignature.size());
  auto header = next_chunk(rest);
  if (!header) return header.error();
  auto picture = read_header(*header);
  if (!picture) return picture.error();
  std::string packed;
  for (;;) {
    const auto chunk = next_chunk(rest);
    if (!chunk) return chunk.error();
    if (chunk->type == "IDAT") packed += chunk->content;
    if (chunk->type == "IEND") break;
  }
  std::string raw((std::size_t{picture->width} * picture->channels + 1) * picture->height, '\0');
  uLongf size = raw.size();
  const int unpacked = ::uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                                    reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (unpacked != Z_OK || size != raw.size()) return broken("its pixels cannot be unpacked");
  if (const Status done = unfilter(raw, *picture); !done) return done.error();
  return picture;
}

std::string encode_png(const Picture& picture) {
  const std::size_t row = std::size_t{picture.width} * picture.channels;
  CHECK(picture.pixels.size() == row * picture.height);
  std::string raw;
  raw.reserve((row + 1) * picture.height);
  for (std::size_t y = 0; y < picture.height; ++y) {
    raw += '\0';  // no filter
    raw.append(picture.pixels, y * row, row);
  }
  uLongf size = ::compressBound(raw.size());
  std::string packed(size, '\0');
  CHECK(::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
                   raw.size()) == Z_OK);
  packed.resize(size);
  std::string header;
  append_big_endian(header, picture.width);
  append_big_endian(header, picture.height);
  header += '\x08';
  header += picture.channels == 1 ? '\x00' : picture.channels == 3 ? '\x02' : '\x06';
  header.append(3, '\0');  // usual compression and filters, not interlaced
  std::string out(kSignature);
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", packed);
  append_chunk(out, "IEND", "");
  return out;
}

}  // namespace sluice::cli
