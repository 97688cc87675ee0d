// WorkerLog: what a worker prints, as lines. Read in bounded parts and at a bounded pace: a worker that never stops
// printing must not keep anybody from their work; it waits at its pipe. Used by Agent and the profiler.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "wire/channel.h"

namespace sluice::invoker {

class WorkerLog {
 public:
  // Takes a part of what is there; `on_line` gets whole lines, of a bounded length; only the last one where they are
  // not `wanted`. False: the log has ended, and would be readable for ever.
  template <class OnLine>
  [[nodiscard]] bool read(const wire::Descriptor& log, bool wanted, const OnLine& on_line) {
    std::array<char, kReadMax> buffer;  // NOLINT: read fills it
    const ssize_t got = log.valid() ? ::read(log.get(), buffer.data(), buffer.size()) : -1;
    if (got <= 0) return got != 0;
    read_ += static_cast<std::size_t>(got);
    partial_.append(buffer.data(), static_cast<std::size_t>(got));
    if (!wanted) keep_last();
    std::string_view left = partial_;
    for (std::size_t end = 0; (end = left.find('\n')) != std::string_view::npos || left.size() > kLineMax;) {
      const std::size_t length = std::min(end, kLineMax);
      line(std::string(left.substr(0, length)), on_line);
      left.remove_prefix(end == length ? length + 1 : length);
    }
    partial_ = std::string(left);
    return true;
  }
  // When to read again; nothing: as soon as there is something.
  [[nodiscard]] std::optional<Time> pause(Time now) {
    if (now - since_ >= kSpell) {
      since_ = now;
      read_ = 0;
    }
    return read_ < kReadMax ? std::nullopt : std::optional(since_ + kSpell);
  }
  // A last line may have no end.
  template <class OnLine>
  void end_line(const OnLine& on_line) {
    if (!partial_.empty()) line(std::exchange(partial_, {}), on_line);
  }
  [[nodiscard]] const std::string& last_line() const { return last_; }

 private:
  static constexpr std::size_t kReadMax = 64u << 10;  // what a pipe holds
  static constexpr std::size_t kLineMax = 1000;
  // 6.5 MB/s: a hundredth of a CPU. Our choice.
  static constexpr Duration kSpell = Duration::ms(10);

  // Nobody wants the others: they are not even looked for.
  void keep_last() {
    const std::size_t end = partial_.rfind('\n');
    if (end == std::string::npos || end == 0) return;
    const std::size_t before = partial_.rfind('\n', end - 1);
    if (before != std::string::npos) partial_.erase(0, before + 1);
  }

  template <class OnLine>
  void line(std::string text, const OnLine& on_line) {
    on_line(text);
    last_ = std::move(text);
  }
  std::string partial_, last_;
  Time since_;            // of the spell
  std::size_t read_ = 0;  // in it
};

}  // namespace sluice::invoker
