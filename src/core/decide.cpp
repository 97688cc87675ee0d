// Decisions: who is let in, what starts where.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {

void Scheduler::decide(Time now, Commands& out) {
  CHECK(now >= now_);
  now_ = now;
  fire_timers(now);
  admit(now, out);
  if (changed_) dispatch(now, out);
  changed_ = false;
  for (Reply& answer : answers_) emit(out, std::move(answer));
  answers_.clear();
}

std::optional<Time> Scheduler::next_wake() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->at;
}

void Scheduler::emit(Commands& out, Action action, const Work& work) {
  out.list.push_back({CommandId(next_command_++), std::move(action), work});
}

policy::View Scheduler::view() const {
  return {.now = now_,
          .queues = queues_,
          .busy_queues = busy_queues_,
          .invokers = books_.invokers(),
          .applications = models_};
}

void Scheduler::mark_busy(policy::QueueId queue) {
  const auto it = std::lower_bound(busy_queues_.begin(), busy_queues_.end(), queue.value());
  if (it == busy_queues_.end() || *it != queue.value()) busy_queues_.insert(it, queue.value());
}

void Scheduler::mark_idle(policy::QueueId queue) {
  const auto it = std::lower_bound(busy_queues_.begin(), busy_queues_.end(), queue.value());
  if (it != busy_queues_.end() && *it == queue.value()) busy_queues_.erase(it);
}

void Scheduler::fire_timers(Time now) {
  while (!timers_.empty() && timers_.begin()->at <= now) {
    const Timer timer = *timers_.begin();
    timers_.erase(timers_.begin());
    if (!alive(timer.run, timer.generation)) continue;
    const StageRun::State state = runs_[timer.run].stages[timer.stage].state;
    if (timer.begins)
      begin_stage(timer.run, timer.stage);
    else if (state == StageRun::State::running || state == StageRun::State::queued)
      enqueue(timer.run, timer.stage, timer.item);
    settle();
  }
}

void Scheduler::admit(Time now, Commands& out) {
  for (const RequestArrived& arrival : arrivals_) {
    if (request_slots_.size() >= limits_.requests_max) {
      ++counters_.rejected;
      emit(out, Reject{.request = arrival.id,
                       .reason = RejectReason::queue_full,
                       .needed = static_cast<double>(request_slots_.size() + 1),
                       .available = static_cast<double>(limits_.requests_max)});
      continue;
    }
    const policy::Admitted admitted = policies_.admission->admit(view(), arrival.application, arrival.deadline);
    if (!admitted.accept) {
      ++counters_.rejected;
      emit(out, Reject{.request = arrival.id,
                       .reason = admitted.reason,
                       .needed = admitted.needed,
                       .available = admitted.available});
      continue;
    }
    ++counters_.accepted;
    const Slot slot = requests_.take();
    Request& request = requests_[slot];
    request.id = arrival.id;
    request.application = arrival.application;
    request.arrival = now;
    request.deadline = arrival.deadline;
    request.size = arrival.size;
    request.bytes = arrival.bytes;
    request.cost = {};
    request.waiting = 0;
    request_slots_.emplace(arrival.id, slot);
    emit(out, Accept{.request = arrival.id, .promised_finish = arrival.deadline});
    start_run(slot, 0, kNoSlot, 0, 0);
    note(requests_[slot].runs.front(), arrival.verdicts, arrival.fan_outs);
    settle();
  }
  arrivals_.clear();
}

void Scheduler::dispatch(Time, Commands& out) {
  if (busy_queues_.empty()) return;
  policies_.dispatch->begin(view());
  for (std::size_t i = 0; i < limits_.decisions_max; ++i) {
    if (!policies_.dispatch->next(view(), proposals_)) return;
    ++counters_.decisions;
    std::optional<std::size_t> booked;
    for (std::size_t p = 0; p < proposals_.ranked.size() && !booked; ++p) {
      if (book(proposals_, proposals_.ranked[p], out)) booked = p;
    }
    policies_.dispatch->told(view(), proposals_, booked);
  }
}

// Re-checks a proposal and books it; false if it does not fit after all.
bool Scheduler::book(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out) {
  policy::Queue& queue = queues_[proposals.queue.index()];
  CHECK(proposal.members >= 1 && proposal.members <= proposal.configuration.batch &&
        proposal.members <= queue.waiting.size());
  CHECK(books_.knows(proposal.invoker));
  const auto positions = books_.take(proposal.invoker, proposal.configuration);
  if (!positions) return false;
  const Slot slot = batches_.take();
  Batch& batch = batches_[slot];
  batch.id = BatchId(next_batch_++);
  batch.queue = queue.id;
  batch.invoker = proposal.invoker;
  batch.epoch = books_.epoch(proposal.invoker);
  batch.configuration = proposal.configuration;
  batch.positions = *positions;
  batch.started = now_;
  batch.members.clear();
  StartBatch start{.id = batch.id,
                   .invoker = batch.invoker,
                   .application = queue.application,
                   .function = queue.function,
                   .model_stage = queue.model_stage,
                   .configuration = batch.configuration,
                   .positions = *positions,
                   .earliest = now_,
                   .latest = Time::max()};
  for (std::uint32_t i = 0; i < proposal.members; ++i) {
    const policy::Waiting member = queue.waiting.front();
    queue.waiting.pop_front();
    runs_[member.run].stages[member.stage].state = StageRun::State::running;
    --requests_[runs_[member.run].request].waiting;
    start.members.push_back({.invocation = member.invocation,
                             .request = member.request,
                             .stage = StageId(member.stage),
                             .item = member.item,
                             .ready = member.ready,
                             .inputs_at = member.inputs_at,
                             .bytes = member.bytes});
    batch.members.push_back(member);
  }
  start.queued = static_cast<std::uint32_t>(queue.waiting.size());
  if (queue.waiting.empty()) mark_idle(queue.id);
  batch_slots_.emplace(batch.id, slot);
  ++counters_.batches;
  emit(out, std::move(start), proposals.work);
  return true;
}

}  // namespace sluice::core
