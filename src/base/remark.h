// Remark: what whoever runs the server should know, from the part of it that noticed. It becomes a line of the log
// (log/log.h) and, unless it is quiet, of the console. Nothing is remarked while requests go well.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice {

struct Remark {
  enum class Level : std::uint8_t { debug, info, warning, error };
  Level level = Level::info;
  std::string_view component{};  // a literal: "worker", "scheduler", "requests", …
  std::string text;
  std::uint64_t request = 0;  // its number inside of the server; 0: of no request in particular
  bool quiet = false;         // for the log alone: a person at the console need not see it
};

// Any thread, and no waiting.
using OnRemark = std::function<void(const Remark&)>;

}  // namespace sluice
