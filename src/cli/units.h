// Numbers with their units, as people read them in tables.
#pragma once
#include <string>

namespace sluice::cli {

[[nodiscard]] std::string ms_text(double ms);            // "0.42 ms", "12.3 ms", "420 ms", "12.5 s"
[[nodiscard]] std::string size_text(double bytes);       // "512 B", "1.05 MB", "64 GB"
[[nodiscard]] std::string dollars_text(double dollars);  // "$1.1e-05"
[[nodiscard]] std::string span_text(double seconds);     // "12 s", "1m10s", "3h05m", "2d04h"
[[nodiscard]] std::string instant_text(double unix_ms);  // "2026-01-01 00:00:00", where the user is

}  // namespace sluice::cli
