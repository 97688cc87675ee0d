#include "live/callers.h"

namespace sluice::live {
namespace {

// A run of a workflow is an execution of its own, whatever batches its stages were in.
void count_run(ModelStats& stats, Time now) {
  ++stats.inferences;
  ++stats.executions;
  stats.last_inference_ms = now.count_ns() / 1'000'000;
  for (Counted* counted : {&stats.queue, &stats.compute_input, &stats.compute_infer, &stats.compute_output})
    ++counted->count;
  if (stats.batches.empty()) stats.batches.push_back({.size = 1, .infer = {}});
  stats.batches.front().infer = stats.compute_infer;
}

}  // namespace

void Callers::add(RequestId request, const Pending& pending) {
  if (pending.timeout) timeouts_.emplace(*pending.timeout, request);
  pending_.emplace(request, pending);
}

void Callers::answer(const Reject& refused, Time now) {
  bus::Answered out{.request = refused.request, .kind = bus::Answered::Kind::rejected};
  out.reason = refused.reason;
  out.needed = refused.needed;
  out.available = refused.available;
  out.retry_after = refused.retry_after;
  answer(std::move(out), RequestState::rejected, now);
}

void Callers::answer(const Reply& replied, Time now) {
  const auto it = pending_.find(replied.request);
  if (it == pending_.end()) return;
  const Pending& pending = it->second;
  bus::Answered out{.request = replied.request};
  out.stage = replied.stage;
  out.error = replied.error;
  out.cost = replied.cost;
  out.outermost = replied.outermost;
  out.places = replied.places;
  RequestState state = now <= pending.deadline ? RequestState::met : RequestState::late;
  switch (replied.outcome) {
    case RequestOutcome::finished:
      break;
    case RequestOutcome::failed:
      out.kind = bus::Answered::Kind::failed;
      state = RequestState::failed;
      break;
    case RequestOutcome::deadline_exceeded:
      out.kind = bus::Answered::Kind::deadline_exceeded;
      state = RequestState::failed;
      break;
    case RequestOutcome::cancelled:
      out.kind = bus::Answered::Kind::cancelled;
      state = RequestState::cancelled;
      break;
  }
  answer(std::move(out), state, now);
}

void Callers::answer(bus::Answered out, RequestState state, Time now) {
  auto node = pending_.extract(out.request);
  if (node.empty()) return;
  const Pending& pending = node.mapped();
  if (pending.timeout) timeouts_.erase({*pending.timeout, out.request});
  out.latency = now - pending.arrival;
  out.slack = pending.deadline - now;
  Untaken untaken{.application = pending.application, .answered = out, .state = state, .releases = {}};
  const auto taken = pending.gateway->answered(std::move(out));
  if (!taken) return void(untaken_.emplace(untaken.answered.request, std::move(untaken)));
  ended(untaken, *taken, now);
  pending.gateway->settle();
}

void Callers::taken(const bus::AnswerTaken& taken, Time now) {
  auto node = untaken_.extract(taken.request);
  if (node.empty()) return;
  ended(node.mapped(), taken, now);
  for (Command& release : node.mapped().releases) effects_.link.send(release);
}

bool Callers::keep_release(Command& command) {
  const auto* release = std::get_if<ReleaseObjects>(&command.action);
  if (release == nullptr || untaken_.empty()) return false;
  const auto it = untaken_.find(release->request);
  if (it == untaken_.end()) return false;
  it->second.releases.push_back(std::move(command));
  return true;
}

void Callers::ended(const Untaken& untaken, const bus::AnswerTaken& taken, Time now) {
  const bus::Answered& answered = untaken.answered;
  const RequestState state = taken.error.empty() ? untaken.state : RequestState::failed;
  const bool finished = answered.kind == bus::Answered::Kind::finished && taken.error.empty();
  const Dollars cost = answered.cost.to_dollars();
  Installed& installed = effects_.directory[untaken.application];
  ModelStats& stats = installed.stats;
  if (finished && !installed.is_function) count_run(stats, now);  // of a function its batches are counted
  --stats.pending;
  stats.cost += cost;
  stats.met += state == RequestState::met ? 1 : 0;
  stats.late += state == RequestState::late ? 1 : 0;
  stats.rejected += state == RequestState::rejected ? 1 : 0;
  stats.failed += state == RequestState::failed ? 1 : 0;
  stats.cancelled += state == RequestState::cancelled ? 1 : 0;
  Counted& counted = finished ? stats.success : stats.fail;
  ++counted.count;
  counted.ns += static_cast<std::uint64_t>(answered.latency.count_ns());
  effects_.history.ended(answered.request, {.state = state,
                                            .at = now,
                                            .cost = cost,
                                            .stage = answered.stage,
                                            .error = taken.error.empty() ? answered.error : taken.error});
  if (state == RequestState::failed || state == RequestState::rejected) {
    effects_.unlucky({answered, untaken.application, state, taken.error.empty() ? answered.error : taken.error});
  }
}

std::optional<RequestId> Callers::expire_one(Time now) {
  if (timeouts_.empty() || timeouts_.begin()->first > now) return std::nullopt;
  const RequestId id = timeouts_.begin()->second;
  timeouts_.erase(timeouts_.begin());
  bus::Answered expired{.request = id, .kind = bus::Answered::Kind::deadline_exceeded};
  expired.error = "Request timeout expired";
  answer(std::move(expired), RequestState::failed, now);
  return id;
}

std::optional<Time> Callers::next_timeout() const {
  return timeouts_.empty() ? std::nullopt : std::optional(timeouts_.begin()->first);
}

}  // namespace sluice::live
