#include "gateway/refusal.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "gateway/http_reply.h"
#include "gateway/json_text.h"
#include "gateway/oip_input.h"
#include "live/rejection.h"

namespace sluice::gateway {
namespace {

constexpr Duration kRetryNoCapacity = Duration::s(10);  // as kRetryLater
constexpr std::string_view kQueueFull = "Exceeds maximum queue size", kExpired = "Request timeout expired";

struct Refusal {
  unsigned status = 500;
  std::string_view code;
  std::string text;
  double needed = 0, available = 0;  // both 0: not about numbers
  std::optional<Duration> retry_after;
  std::string_view stage;
  std::optional<double> latency_ms;
  std::optional<std::size_t> row;
};

Reply as_reply(const Refusal& refusal) {
  Reply reply{.status = refusal.status};
  reply.body = "{\"error\":";
  append_json(reply.body, refusal.text);
  reply.body += ",\"code\":";
  append_json(reply.body, refusal.code);
  if (refusal.needed != 0 || refusal.available != 0) {
    reply.body += ",\"needed\":";
    append_json(reply.body, refusal.needed);
    reply.body += ",\"available\":";
    append_json(reply.body, refusal.available);
  }
  if (refusal.retry_after) {
    const double ms = std::max(1.0, refusal.retry_after->to_ms());
    reply.body += ",\"retry_after_ms\":";
    append_json(reply.body, static_cast<std::int64_t>(std::ceil(ms)));
    reply.headers = str("Retry-After: ", static_cast<std::int64_t>(std::ceil(ms / 1e3)), "\r\n");
  }
  if (!refusal.stage.empty()) {
    reply.body += ",\"stage\":";
    append_json(reply.body, refusal.stage);
  }
  if (refusal.latency_ms) {
    reply.body += ",\"latency_ms\":";
    append_json(reply.body, *refusal.latency_ms);
  }
  if (refusal.row) {
    reply.body += ",\"row\":";
    append_json(reply.body, *refusal.row);
  }
  reply.body += '}';
  return reply;
}

Refusal rejected(const live::Answer& answer, std::string_view model) {
  const bool money = answer.reason == RejectReason::cost_exceeded;  // mostly far below a thousandth
  Refusal refusal{.status = 429,
                  .code = code_of(answer.reason),
                  .text = answer.error.empty() ? live::rejection_text(answer, model) : answer.error,
                  .needed = money ? answer.needed : live::rounded(answer.needed),
                  .available = money ? answer.available : live::rounded(answer.available),
                  .retry_after = answer.retry_after};
  switch (answer.reason) {
    case RejectReason::no_capacity:
      refusal.status = 503;  // trying again does not help while things are as they are
      if (!refusal.retry_after) refusal.retry_after = kRetryNoCapacity;
      break;
    case RejectReason::not_deployed:
    case RejectReason::not_reservable:
      refusal.status = 400;
      break;
    default:
      if (!refusal.retry_after) refusal.retry_after = Duration::s(1);
      break;
  }
  return refusal;
}

Refusal of(const live::Answer& answer, std::string_view model) {
  switch (answer.kind) {
    case live::AnswerKind::rejected:
      return rejected(answer, model);
    case live::AnswerKind::deadline_exceeded: {
      const double latency_ms = live::rounded(answer.latency.to_ms());
      std::string text = str("deadline exceeded after ", latency_ms, " ms");
      if (!answer.stage.empty()) text += str(" in stage '", answer.stage, "'");
      text += str(": it was due after ", live::rounded((answer.latency + answer.slack).to_ms()), " ms");
      return {
          .status = 504, .code = "DEADLINE_EXCEEDED", .text = text, .stage = answer.stage, .latency_ms = latency_ms};
    }
    case live::AnswerKind::cancelled:
      return {.status = 400, .code = "CANCELLED", .text = "the request was cancelled"};
    case live::AnswerKind::failed:
    case live::AnswerKind::finished:
      break;
  }
  const std::string text =
      answer.stage.empty() ? answer.error : str("stage '", answer.stage, "' failed: ", answer.error);
  return {.status = 500, .code = "STAGE_FAILED", .text = text, .stage = answer.stage};
}

Refusal in_words_of_triton(Refusal refusal, std::string_view caller_id) {
  const bool expired = refusal.status == 504;
  refusal.status = 503;
  if (!refusal.retry_after) refusal.retry_after = Duration::s(1);
  refusal.text = id_prefix(caller_id) + std::string(expired ? kExpired : kQueueFull);
  return refusal;
}

Reply finished(Refusal refusal, const RefusedCall& call) {
  refusal.row = call.row;
  if (call.row) refusal.text = str("row ", *call.row, ": ", refusal.text);
  if (call.triton_errors && (refusal.status == 429 || refusal.status == 504)) {
    refusal = in_words_of_triton(std::move(refusal), call.caller_id);
  }
  return as_reply(refusal);
}

}  // namespace

unsigned status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::already_exists:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::unavailable:
    case ErrorCode::io:  // of this machine, such as a full disk: not the caller's fault, and it may pass
      return 503;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::internal:
      return 500;
  }
  return 500;
}

Reply reply_of(const Error& error) {
  return error_reply(status_of(error.code), error.message);
}

std::string_view code_of(RejectReason reason) {
  switch (reason) {
    case RejectReason::slo_infeasible:
      return "SLO_INFEASIBLE";
    case RejectReason::queue_full:
      return "QUEUE_FULL";
    case RejectReason::quota_exceeded:
      return "QUOTA_EXCEEDED";
    case RejectReason::no_capacity:
      return "NO_CAPACITY";
    case RejectReason::cost_exceeded:
      return "COST_INFEASIBLE";
    case RejectReason::not_deployed:
      return "NOT_DEPLOYED";
    case RejectReason::not_reservable:
      return "NOT_RESERVABLE";
    case RejectReason::overloaded:
      return "OVERLOADED";
  }
  return "REJECTED";
}

Reply refusal_of(const live::Answer& answer, const RefusedCall& call) {
  CHECK(answer.kind != live::AnswerKind::finished);
  return finished(of(answer, call.model), call);
}

Reply over_quota(const live::OverQuota& over) {
  return refusal_of({.kind = live::AnswerKind::rejected,
                     .reason = RejectReason::quota_exceeded,
                     .needed = over.needed,
                     .available = over.available,
                     .retry_after = over.retry_after,
                     .error = over.text},
                    {});
}

Reply unreadable(const Error& error, const RefusedCall& call) {
  if (error.code != ErrorCode::unavailable) return reply_of(error);
  return finished({.status = 429, .code = "QUEUE_FULL", .text = error.message, .retry_after = Duration::s(1)}, call);
}

}  // namespace sluice::gateway
