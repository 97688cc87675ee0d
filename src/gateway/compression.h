// gzip and deflate (zlib framing), both ways. Unpacking stops at a limit, however small the packed body was.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gateway/body_buffer.h"

namespace sluice::gateway {

enum class Encoding : std::uint8_t { identity, gzip, deflate };

// The value of Content-Encoding; nothing: one that is not served.
[[nodiscard]] std::optional<Encoding> encoding_of(std::string_view value);
// The encoding to answer with for a value of Accept-Encoding; gzip if both would do.
[[nodiscard]] Encoding accepted_encoding(std::string_view value);
[[nodiscard]] std::string_view name_of(Encoding encoding);

// Appends to `out`. too_large: over `bytes_max`; unavailable: the budget is used up; invalid: broken.
[[nodiscard]] Status unpack(Encoding encoding, std::string_view packed, std::size_t bytes_max, BodyBuffer& out);
[[nodiscard]] std::string pack(Encoding encoding, std::string_view bytes);

}  // namespace sluice::gateway
