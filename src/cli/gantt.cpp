#include "cli/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"

namespace sluice::cli {
namespace {

class Picture {
 public:
  explicit Picture(const Gantt& gantt) : gantt_(gantt), total_ms_(std::max({1e-3, gantt.deadline_ms, gantt.until_ms})) {
    for (const GanttStage& stage : gantt.stages) {
      total_ms_ = std::max({total_ms_, stage.ready_ms, stage.start_ms.value_or(0), stage.end_ms.value_or(0)});
      names_ = std::max(names_, width(stage.name));
    }
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const GanttStage& stage : gantt_.stages) out += line(stage);
    return out + scale();
  }

 private:
  [[nodiscard]] std::size_t column(double ms) const {
    const double share = std::clamp(ms / total_ms_, 0.0, 1.0);
    return static_cast<std::size_t>(std::floor(share * static_cast<double>(gantt_.width)));
  }

  // Both ends in milliseconds; nothing is drawn if they are in the same column.
  void fill(std::string& bar, double from, double to, char with) const {
    for (std::size_t i = column(from); i < column(to); ++i) bar[i] = with;
  }

  [[nodiscard]] std::string line(const GanttStage& stage) const {
    std::string bar(gantt_.width + 1, ' ');
    const double start_ms = stage.start_ms.value_or(gantt_.until_ms);
    const double loaded_ms = std::min(start_ms, stage.ready_ms + stage.load_ms);
    fill(bar, stage.ready_ms, loaded_ms, '~');
    fill(bar, loaded_ms, start_ms, '.');
    if (stage.start_ms) {
      fill(bar, *stage.start_ms, stage.end_ms.value_or(gantt_.until_ms), '#');
      bar[column(*stage.start_ms)] = '#';
    }
    bar[column(gantt_.deadline_ms)] = '|';
    std::string out =
        fmt::format("  {}{}  {}  {}", stage.name, std::string(names_ - width(stage.name), ' '), bar, stage.beside);
    return out.erase(out.find_last_not_of(' ') + 1) + "\n";
  }

  // 1, 2 or 5 times a power of ten, with room for the numbers.
  [[nodiscard]] double step() const {
    constexpr double kColumns = 8;
    const double least = total_ms_ * kColumns / static_cast<double>(gantt_.width);
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= least) return factor * power;
    }
    return 10 * power;
  }

  [[nodiscard]] std::string scale() const {
    const double each = step();
    const bool short_one = total_ms_ < 1;
    std::string out = std::string(names_ + 4, ' ');
    const std::size_t begin = out.size();
    for (int i = 0; i * each <= total_ms_ * (1 + 1e-9); ++i) {
      out.resize(begin + column(i * each), ' ');
      out += fmt::format("{:g}", i * each * (short_one ? 1000 : 1));
    }
    return out + (short_one ? " µs\n" : " ms\n");
  }

  const Gantt& gantt_;
  double total_ms_;
  std::size_t names_ = 0;
};

}  // namespace

std::string gantt(const Gantt& gantt) {
  return Picture(gantt).text();
}

}  // namespace sluice::cli
