#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/units.h"

namespace sluice::cli {

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(total),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_),
      terminal_(isatty(2) != 0) {}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::add(std::uint64_t amount) {
  done_ += amount;
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  draw();
}

void Progress::say(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  if (!terminal_) return;
  drawn_ = std::chrono::steady_clock::now();
  draw();
}

void Progress::draw() {
  constexpr int kWidth = 30;
  const double share = std::min(1.0, static_cast<double>(done_) / std::max(1.0, static_cast<double>(total_)));
  const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
  const int full = static_cast<int>(share * kWidth);
  const std::string eta = share > 0.01 ? "ETA " + span_text(seconds / share - seconds) : "";
  fmt::print(stderr, "\r\x1b[K{}  [{}>{}] {:3.0f} %  {}", what_, std::string(static_cast<std::size_t>(full), '='),
             std::string(static_cast<std::size_t>(kWidth - full), ' '), 100 * share, eta);
}

}  // namespace sluice::cli
