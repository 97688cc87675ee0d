#include "base/bytes.h"

#include <array>

#include "base/text.h"

namespace sluice {
namespace {

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<ByteUnit, 9> kByteUnits = {{{"B", 1},
                                                 {"KB", 1'000},
                                                 {"MB", 1'000'000},
                                                 {"GB", 1'000'000'000},
                                                 {"TB", 1'000'000'000'000},
                                                 {"KiB", std::int64_t{1} << 10},
                                                 {"MiB", std::int64_t{1} << 20},
                                                 {"GiB", std::int64_t{1} << 30},
                                                 {"TiB", std::int64_t{1} << 40}}};

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto [number, unit_name] = split_number(text);
  for (const ByteUnit& unit : kByteUnits) {
    if (unit.name != unit_name) continue;
    const std::optional<std::int64_t> count = parse_scaled(number, unit.bytes);
    return count ? std::optional(Bytes(*count)) : std::nullopt;
  }
  return std::nullopt;
}

std::string to_string(Bytes bytes) {
  const std::int64_t count = bytes.count();
  const std::int64_t magnitude = count < 0 ? -count : count;
  for (const ByteUnit& unit : {kByteUnits[3], kByteUnits[2], kByteUnits[1]}) {
    const std::int64_t thousandth = unit.bytes / 1000;
    if (magnitude < unit.bytes || count % thousandth != 0 || magnitude >= 1'000'000 * unit.bytes) continue;
    return str(static_cast<double>(count / thousandth) / 1000.0, unit.name);
  }
  return str(count, "B");
}

}  // namespace sluice
