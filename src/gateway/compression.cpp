#include "gateway/compression.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/text.h"

namespace sluice::gateway {
namespace {

constexpr int kZlibWindow = 15, kGzipWindow = 15 + 16, kMemoryLevel = 8;

int window_of(Encoding encoding) {
  return encoding == Encoding::gzip ? kGzipWindow : kZlibWindow;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "gzip;q=0" takes it back.
bool wanted(std::string_view item, std::string_view name) {
  const std::size_t semicolon = item.find(';');
  if (trimmed(item.substr(0, semicolon)) != name) return false;
  if (semicolon == std::string_view::npos) return true;
  std::string_view quality = trimmed(item.substr(semicolon + 1));
  if (!quality.starts_with("q=")) return true;
  return parse_double(quality.substr(2)).value_or(0) > 0;
}

uInt piece(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

struct Inflater {
  z_stream stream{};
  explicit Inflater(Encoding encoding) { CHECK(inflateInit2(&stream, window_of(encoding)) == Z_OK); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

std::optional<Encoding> encoding_of(std::string_view value) {
  if (value.empty() || value == "identity") return Encoding::identity;
  if (value == "gzip") return Encoding::gzip;
  if (value == "deflate") return Encoding::deflate;
  return std::nullopt;
}

Encoding accepted_encoding(std::string_view value) {
  Encoding best = Encoding::identity;
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    const std::string_view item = value.substr(0, comma);
    if (wanted(item, "gzip")) return Encoding::gzip;
    if (wanted(item, "deflate")) best = Encoding::deflate;
    value = comma == std::string_view::npos ? std::string_view() : value.substr(comma + 1);
  }
  return best;
}

std::string_view name_of(Encoding encoding) {
  return encoding == Encoding::gzip ? "gzip" : encoding == Encoding::deflate ? "deflate" : "identity";
}

Status unpack(Encoding encoding, std::string_view packed, std::size_t bytes_max, BodyBuffer& out) {
  Inflater inflater(encoding);
  z_stream& stream = inflater.stream;
  std::size_t taken = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (out.size() == bytes_max) {
      return Error{ErrorCode::too_large, str("unpacked body is longer than ", bytes_max, " bytes")};
    }
    const BodyBuffer::Room room = out.room(bytes_max - out.size());
    if (room.size == 0) return Error{ErrorCode::unavailable, "too many bytes of bodies in flight"};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = piece(packed.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(room.data);
    stream.avail_out = piece(room.size);
    const uInt in_before = stream.avail_in, out_before = stream.avail_out;
    state = inflate(&stream, Z_NO_FLUSH);
    taken += in_before - stream.avail_in;
    out.grow_by(out_before - stream.avail_out);
    const bool stuck = in_before == stream.avail_in && out_before == stream.avail_out;
    if (state != Z_STREAM_END && (state != Z_OK || stuck)) {
      return Error{ErrorCode::invalid, str("body is no ", name_of(encoding), " data")};
    }
  }
  return Done{};
}

std::string pack(Encoding encoding, std::string_view bytes) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_of(encoding), kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out;
  out.resize(deflateBound(&stream, bytes.size()));
  std::size_t taken = 0, made = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
    stream.avail_in = piece(bytes.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = piece(out.size() - made);
    const uInt in_before = stream.avail_in, out_before = stream.avail_out;
    state = deflate(&stream, in_before == bytes.size() - taken ? Z_FINISH : Z_NO_FLUSH);
    CHECK(state == Z_OK || state == Z_STREAM_END);
    taken += in_before - stream.avail_in;
    made += out_before - stream.avail_out;
  }
  deflateEnd(&stream);
  out.resize(made);
  return out;
}

}  // namespace sluice::gateway
