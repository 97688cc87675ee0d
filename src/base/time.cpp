#include "base/time.h"

#include <array>

#include "base/text.h"

namespace sluice {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array<Unit, 6> kUnits = {{{"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const auto [number, unit_name] = split_number(text);
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    const std::optional<std::int64_t> ns = parse_scaled(number, unit.ns);
    return ns ? std::optional(Duration::ns(*ns)) : std::nullopt;
  }
  return std::nullopt;
}

std::string to_string(Duration duration) {
  const std::int64_t ns = duration.count_ns();
  if (ns == 0) return "0ms";
  const std::int64_t magnitude = ns < 0 ? -ns : ns;
  // From seconds down: hours and minutes read worse than "90s". At most three decimals keep the value exact.
  for (const Unit& unit : {kUnits[2], kUnits[3], kUnits[4]}) {
    const std::int64_t thousandth = unit.ns / 1000;
    if (magnitude < unit.ns || ns % thousandth != 0) continue;
    if (magnitude >= 1'000'000 * unit.ns) break;
    return str(static_cast<double>(ns / thousandth) / 1000.0, unit.name);
  }
  if (ns % kUnits[2].ns == 0) return str(ns / kUnits[2].ns, "s");
  if (ns % kUnits[3].ns == 0) return str(ns / kUnits[3].ns, "ms");
  if (ns % kUnits[4].ns == 0) return str(ns / kUnits[4].ns, "us");
  return str(ns, "ns");
}

}  // namespace sluice
