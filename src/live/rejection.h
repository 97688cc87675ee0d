// Why a request was refused, in words: for the caller who waits (gateway/refusal.cpp) and for the journal of those who
// do not.
#pragma once
#include <cmath>
#include <string>
#include <string_view>

#include "base/text.h"
#include "live/service.h"

namespace sluice::live {

// A number for people: at most three digits after the point.
inline double rounded(double number) {
  return std::round(number * 1e3) / 1e3;
}

// REQUIRES: the answer's kind is `rejected`.
[[nodiscard]] inline std::string rejection_text(const Answer& answer, std::string_view model) {
  const double needed = rounded(answer.needed), available = rounded(answer.available);
  switch (answer.reason) {
    case RejectReason::slo_infeasible:
      return str("SLO cannot be met: needs ", needed, " ms, deadline in ", available, " ms");
    case RejectReason::queue_full:
      return str("queue is full: ", needed, " requests, at most ", available, " may wait");
    case RejectReason::quota_exceeded:
      return answer.error;  // which quota it is, and both numbers
    case RejectReason::no_capacity:
      return str("no capacity: nothing here can run a stage of '", model, "'",
                 needed == 0 ? "" : str(" (needs ", needed, ", there is ", available, ")"));
    case RejectReason::overloaded:
      return str("the machines are full: what is under way and this request of '", model, "' need ", needed,
                 " slices or vCPUs, at most ", available, " are given");
    case RejectReason::cost_exceeded:
      return str("cost limit cannot be met: needs $", answer.needed, ", limit is $", answer.available);
    case RejectReason::not_deployed:
      return str("Request for unknown model: '", model, "' is not found");
    case RejectReason::not_reservable:
      return str("the workflow of '", model, "' cannot be reserved ahead: its scheduler takes only what it can plan");
  }
  return "rejected";
}

}  // namespace sluice::live
