// Slack: the time a queue's oldest invocation has left beyond what the rest must take at least. The least slack is the
// most urgent.
#pragma once
#include <cstdint>

#include "policy/view.h"

namespace sluice::policy {

// REQUIRES: somebody waits.
[[nodiscard]] inline std::int64_t slack_ns(const View& view, const Queue& queue) {
  const double rest = queue.planner->fastest_ms(queue.model_stage, 1);
  return (queue.waiting.front().deadline - view.now).count_ns() - Duration::ms(rest).count_ns();
}

}  // namespace sluice::policy
