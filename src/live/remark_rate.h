// RemarkRate: keeps remarks about single requests to a bounded rate: under overload thousands fail a second, and the
// first few say it all. Of one thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "base/time.h"

namespace sluice::live {

class RemarkRate {
 public:
  static constexpr std::uint32_t kPerSecond = 10;

  // Nothing: not this one. Else it may be said, with the number of those before it that were not.
  [[nodiscard]] std::optional<std::uint64_t> pass(Time now) {
    if (now - since_ >= Duration::s(1)) {
      since_ = now;
      said_ = 0;
    }
    if (said_ >= kPerSecond) {
      ++kept_back_;
      return std::nullopt;
    }
    ++said_;
    const std::uint64_t before = kept_back_;
    kept_back_ = 0;
    return before;
  }

 private:
  Time since_;
  std::uint32_t said_ = 0;
  std::uint64_t kept_back_ = 0;
};

// What the next remark that passes says of those before it.
[[nodiscard]] inline std::string not_listed(std::uint64_t before) {
  return before == 0 ? "" : str("; ", before, " others before it are not listed");
}

}  // namespace sluice::live
