// Which functions are needed by requests that were announced.
#pragma once
#include <algorithm>

#include "policy/view.h"

namespace sluice::policy {

[[nodiscard]] inline Duration load_time(const SharedFunction& function) {
  return function.level == Level::device ? function.cold_start.total()
                                         : function.cold_start.process + function.cold_start.host;
}

[[nodiscard]] inline bool belongs(const View& view, const SharedFunction& function, ApplicationId application) {
  return std::any_of(function.queues.begin(), function.queues.end(),
                     [&](QueueId queue) { return view.queue(queue).application == application; });
}

// Whether requests were announced that will come before the function could be loaded.
[[nodiscard]] inline bool is_announced(const View& view, const SharedFunction& function) {
  return std::any_of(view.announced.begin(), view.announced.end(), [&](const RequestAnnounced& a) {
    return a.expected - load_time(function) <= view.now && belongs(view, function, a.application);
  });
}

}  // namespace sluice::policy
