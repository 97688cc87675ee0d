// Why a request was not answered with a result: status, code and text in one place.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/commands.h"
#include "gateway/exchange.h"
#include "live/service.h"

namespace sluice::gateway {

[[nodiscard]] unsigned status_of(ErrorCode code);
[[nodiscard]] Reply reply_of(const Error& error);

// "SLO_INFEASIBLE".
[[nodiscard]] std::string_view code_of(RejectReason reason);

struct RefusedCall {
  std::string_view model, caller_id;
  std::optional<std::size_t> row = {};  // of a request of several rows: the one that is refused
  bool triton_errors = false;           // 503 and Triton's texts instead of 429 and 504
};

// REQUIRES: the answer is not `finished`.
[[nodiscard]] Reply refusal_of(const live::Answer& answer, const RefusedCall& call);
[[nodiscard]] Reply over_quota(const live::OverQuota& over);
// A request that could not be read, or for whose inputs there is no room now.
[[nodiscard]] Reply unreadable(const Error& error, const RefusedCall& call);

}  // namespace sluice::gateway
