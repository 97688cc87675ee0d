// What the workflow engine asks for: invocations that are ready join their queues, requests that are over are answered.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {

// Handling one effect may cause more.
void Scheduler::follow() {
  auto& effects = runs_.effects();
  for (std::size_t i = 0; i < effects.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows meanwhile
    Runs::Effect effect = std::move(effects[i]);
    std::visit([&](auto& e) { follow(e); }, effect);
  }
  effects.clear();
}

void Scheduler::follow(const Runs::Ready& ready) {
  if (!runs_.expects(ready.place)) return;  // over since
  const ControlStage& control = runs_.control_of(ready.place);
  if (queues_[control.queue].waiting.size() >= limits_.queue_max)
    return runs_.end(ready.place, RequestOutcome::failed, "QueueFull", now_);
  Request& request = requests_[ready.request];
  policy::Waiting waiting{.invocation = InvocationId(next_invocation_++),
                          .request = request.id,
                          .run = ready.place.run,
                          .generation = ready.place.generation,
                          .stage = ready.place.stage,
                          .item = ready.place.item,
                          .attempts = ready.place.attempts,
                          .ready = now_,
                          .arrival = request.arrival,
                          .deadline = request.deadline,
                          .inputs_at = ready.inputs_at,
                          .bytes = ready.bytes,
                          .to_spend = request.cost_limit};
  if (waiting.to_spend) *waiting.to_spend = *waiting.to_spend - request.cost;
  if (runs_.in_outermost_run(ready.place)) {
    for (const Promise& p : request.promises) {
      if (p.stage != ready.place.stage) continue;
      waiting.reservation = p.reservation;
      waiting.reserved_at = p.invoker;
    }
  }
  queues_.push(control.queue, waiting);
  request.waiting.add(waiting.invocation.value(), control.queue);
  if (books_.cold_invokers() > 0) demands_.reached(request, queues_[control.queue].shared, now_);
  ++counters_.invocations;
  changed_ = true;
  policies_.dispatch->queued(view(), queues_[control.queue]);
  policies_.prewarm->queued(view(), queues_[control.queue]);
}

void Scheduler::follow(const Runs::Withdrawn& withdrawn) {
  drop_waiting(withdrawn.request);
}

void Scheduler::follow(const Runs::BeganAgain& again) {
  drop_waiting(again.request);
  requests_.end_promises(again.request, books_);
}

void Scheduler::follow(Runs::Ended& ended) {
  const Request& request = requests_[ended.request];
  counters_.finished += ended.outcome == RequestOutcome::finished ? 1 : 0;
  counters_.cancelled += ended.outcome == RequestOutcome::cancelled ? 1 : 0;
  counters_.failed +=
      ended.outcome == RequestOutcome::failed || ended.outcome == RequestOutcome::deadline_exceeded ? 1 : 0;
  for (const InvokerId invoker : ended.left_at) releases_.push_back({invoker, request.id});
  answers_.push_back({.request = request.id,
                      .outcome = ended.outcome,
                      .stage = ended.stage,
                      .error = std::move(ended.error),
                      .cost = request.cost,
                      .outermost = ended.outermost});
  if (ended.outcome == RequestOutcome::finished) answers_.back().places = std::move(ended.left_at);
  requests_.end_promises(ended.request, books_);
  drop_waiting(ended.request);
  if (ended.outcome == RequestOutcome::cancelled || ended.outcome == RequestOutcome::deadline_exceeded)
    cancel_batches_of(request);
  demands_.ended(requests_[ended.request]);
  policies_.dispatch->ended(view(), request.id);
  applications_.leave(request.application);
  requests_.remove(ended.request);
}

// Takes the invocations of a request out of the queues that nobody waits for any more.
void Scheduler::drop_waiting(Slot slot) {
  Request& request = requests_[slot];
  std::vector<std::pair<policy::QueueId, InvocationId>> gone;
  request.waiting.for_each([&](std::uint64_t number, policy::QueueId queue) {
    const InvocationId invocation(number);
    if (!runs_.expects(place_of(queues_.find(queue, invocation)))) gone.emplace_back(queue, invocation);
  });
  std::sort(gone.begin(), gone.end());
  std::vector<InvocationId> of_queue;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    of_queue.push_back(gone[i].second);
    request.waiting.remove(gone[i].second.value());
    if (i + 1 < gone.size() && gone[i + 1].first == gone[i].first) continue;
    queues_.erase(gone[i].first, of_queue);
    of_queue.clear();
  }
}

// Stops what runs for nobody else. Its books stay until the invoker says that it has stopped.
void Scheduler::cancel_batches_of(const Request& request) {
  request.running.for_each([&](std::uint64_t, Slot slot) {
    Batch& batch = batches_[slot];
    const auto expected = [&](const policy::Waiting& m) { return runs_.expects(place_of(m)); };
    if (batch.cancelled || std::any_of(batch.members.begin(), batch.members.end(), expected)) return;
    batch.cancelled = true;
    cancels_.push_back({.invoker = batch.invoker, .id = batch.id});
  });
}

}  // namespace sluice::core
