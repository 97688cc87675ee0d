// How a line of the log looks: as JSON for programs, as text for people who search it, or plain for a console.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/remark.h"
#include "base/time.h"

namespace sluice::log {

enum class Format : std::uint8_t { text, json, plain };

struct Line {
  Time at;
  Remark::Level level = Remark::Level::info;
  std::string_view component, request, text;  // request: as clients know it; empty: of none
};

[[nodiscard]] std::string_view name_of(Remark::Level level);
[[nodiscard]] std::optional<Remark::Level> level_named(std::string_view name);

// RFC 3339 in UTC with milliseconds: 2026-01-02T03:04:05.678Z.
[[nodiscard]] std::string instant_text(Time at);
// With its end. A text of several lines becomes one: whoever reads the log reads lines.
[[nodiscard]] std::string format(const Line& line, Format format);

}  // namespace sluice::log
