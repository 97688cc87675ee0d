#include "cli/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <string_view>

namespace sluice::cli {

std::string ms_text(double ms) {
  const double size = std::abs(ms);
  if (size >= 9'999.5) return fmt::format("{:.1f} s", ms / 1000);
  if (size < 0.9995 && ms != 0) return fmt::format("{:.3g} µs", ms * 1000);
  if (size >= 99.95 || ms == std::round(ms)) return fmt::format("{:.0f} ms", ms);
  if (size >= 9.995) return fmt::format("{:.1f} ms", ms);
  return fmt::format("{:.2f} ms", ms);
}

std::string size_text(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string dollars_text(double dollars) {
  return fmt::format("${:.3g}", dollars);
}

std::string span_text(double seconds) {
  const auto whole = static_cast<long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86'400, whole / 3600 % 24);
}

std::string instant_text(double unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

}  // namespace sluice::cli
