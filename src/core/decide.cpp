// Decisions: who is let in, what starts where.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"
#include "policy/passing.h"
#include "profile/transfer.h"

namespace sluice::core {

void Scheduler::decide(Time now, Commands& out) {
  CHECK(now >= now_);
  now_ = now;
  fire_timers(now);
  std::erase_if(announced_, [&](const RequestAnnounced& a) { return a.expected < now; });
  admit(now, out);
  if (changed_ || (wake_ && *wake_ <= now)) {
    dispatch(now, out);
    prewarm(out);
    ask_again();
  }
  changed_ = false;
  for (Reply& answer : answers_) emit(out, std::move(answer));
  answers_.clear();
  for (const ReleaseObjects& release : releases_) emit(out, release);
  releases_.clear();
  for (const CancelBatch& cancel : cancels_) emit(out, cancel);
  cancels_.clear();
  retire_removed();
}

// A policy that wants to be asked at this very instant would never let time pass.
void Scheduler::ask_again() {
  wake_ = busy_queues_.empty() ? std::nullopt : policies_.dispatch->next_wake(view());
  if (books_.cold_invokers() > 0) {
    const auto other = policies_.prewarm->next_wake(view());
    if (other && (!wake_ || *other < *wake_)) wake_ = other;
  }
  CHECK_MSG(!wake_ || *wake_ > now_, "a policy wants to be asked again at the same instant");
}

std::optional<Time> Scheduler::next_wake() const {
  if (timers_.empty()) return wake_;
  return wake_ ? std::min(*wake_, timers_.begin()->at) : timers_.begin()->at;
}

void Scheduler::emit(Commands& out, Action action, const Work& work) {
  out.list.push_back({CommandId(next_command_++), std::move(action), work});
}

policy::View Scheduler::view() const {
  return {.now = now_,
          .queues = queues_,
          .busy_queues = busy_queues_,
          .invokers = books_.invokers(),
          .by_free = books_.by_free(),
          .applications = models_,
          .functions = functions_,
          .instances = instances_.all(),
          .announced = announced_,
          .transfer = transfer_};
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

void Scheduler::reject(const Reject& refused, Commands& out) {
  ++counters_.rejected;
  emit(out, refused);
}

void Scheduler::admit(Time, Commands& out) {
  for (const RequestArrived& arrival : arrivals_) {
    if (arrival.application.index() >= models_.size() || models_[arrival.application.index()].removed) {
      reject({.request = arrival.id, .reason = RejectReason::not_deployed}, out);
    } else if (request_slots_.size() >= limits_.requests_max) {
      reject({.request = arrival.id,
              .reason = RejectReason::queue_full,
              .needed = static_cast<double>(request_slots_.size() + 1),
              .available = static_cast<double>(limits_.requests_max)},
             out);
    } else {
      const policy::Admitted admitted = policies_.admission->admit(view(), arrival);
      if (admitted.accept)
        let_in(arrival, admitted, out);
      else
        reject({arrival.id, admitted.reason, admitted.needed, admitted.available, admitted.retry_after}, out);
    }
  }
  arrivals_.clear();
}

void Scheduler::let_in(const RequestArrived& arrival, const policy::Admitted& admitted, Commands& out) {
  ++counters_.accepted;
  const Slot slot = requests_.take();
  Request& request = requests_[slot];
  request.id = arrival.id;
  request.application = arrival.application;
  request.arrival = now_;
  request.deadline = arrival.deadline;
  request.size = arrival.size;
  request.bytes = arrival.bytes;
  request.cost = {};
  request.waiting = request.restarts = 0;
  request.left_at.clear();
  request.promises.clear();
  request.verdicts = arrival.verdicts;
  request.fan_outs = arrival.fan_outs;
  request.foretold.clear();
  request_slots_.emplace(arrival.id, slot);
  ++controls_[arrival.application.index()].in_use;
  promise(slot, admitted.reserved);
  emit(out, Accept{.request = arrival.id,
                   .promised_finish = admitted.promised.value_or(arrival.deadline),
                   .cost = admitted.cost});
  start_run(slot, 0, kNoSlot, 0, 0);
  note(requests_[slot].runs.front(), arrival.verdicts, arrival.fan_outs);
  settle();
}

void Scheduler::dispatch(Time, Commands& out) {
  if (busy_queues_.empty()) return;
  policies_.dispatch->begin(view());
  for (std::size_t i = 0; i < limits_.decisions_max; ++i) {
    if (!policies_.dispatch->next(view(), proposals_)) return;
    ++counters_.decisions;
    drop(proposals_);
    std::optional<std::size_t> booked;
    for (std::size_t p = 0; p < proposals_.ranked.size() && !booked; ++p) {
      if (book(proposals_, proposals_.ranked[p], out)) booked = p;
    }
    policies_.dispatch->told(view(), proposals_, booked);
  }
}

policy::Waiting Scheduler::take_waiting(policy::QueueId id, std::size_t at) {
  policy::Queue& queue = queues_[id.index()];
  const policy::Waiting waiting = queue.waiting[at];
  if (at == 0)
    queue.waiting.pop_front();
  else
    queue.waiting.erase(at);
  --requests_[runs_[waiting.run].request].waiting;
  if (queue.waiting.empty()) mark_idle(id);
  return waiting;
}

// What a policy gives up: nothing of it runs any more, and its caller hears so at once.
void Scheduler::drop(const policy::Proposals& proposals) {
  if (proposals.drop == 0) return;
  CHECK(proposals.ranked.empty());
  const auto& waiting = queues_[proposals.queue.index()].waiting;
  CHECK(proposals.drop_first + proposals.drop <= waiting.size());
  std::vector<policy::Waiting> dropped;
  for (std::uint32_t i = 0; i < proposals.drop; ++i) dropped.push_back(waiting[proposals.drop_first + i]);
  for (const policy::Waiting& d : dropped) {
    if (!expected(d)) continue;  // another item of the same request was dropped before it
    end_at(d.run, d.stage, RequestOutcome::deadline_exceeded, "DeadlineExceeded");
    cancel_batches_of(d.request);
  }
  settle();
}

// How long the batch is believed to hold what it takes: its inputs and its execution.
Duration Scheduler::expected_time(const policy::Queue& queue, const policy::Proposal& proposal) const {
  const plan::Candidates& candidates = queue.planner->model().stages[queue.model_stage].candidates;
  const auto it =
      std::lower_bound(candidates.begin(), candidates.end(), proposal.configuration,
                       [](const plan::Candidate& c, const Configuration& wanted) { return c.configuration < wanted; });
  if (it == candidates.end() || it->configuration != proposal.configuration) {
    CHECK(proposal.reservation.valid());  // promised before its profile changed
    return books_.promised_time(proposal.invoker, proposal.reservation);
  }
  profile::BatchInputs inputs;
  for (std::uint32_t i = 0; i < proposal.members; ++i) {
    const policy::Waiting& member = queue.waiting[proposal.first + i];
    if (!member.inputs_at.valid()) continue;
    inputs.add(member.inputs_at == proposal.invoker, member.bytes);
  }
  return Duration::ms(it->ms) + profile::transfer_time(transfer_, inputs);
}

// Re-checks a proposal and books it; false if it does not fit after all.
bool Scheduler::book(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out) {
  policy::Queue& queue = queues_[proposals.queue.index()];
  CHECK(proposal.members >= 1 && proposal.members <= proposal.configuration.batch);
  CHECK(proposal.first + proposal.members <= queue.waiting.size());
  CHECK(books_.knows(proposal.invoker) && proposal.latest >= now_);
  const Duration expected = expected_time(queue, proposal);
  const Claim claim{proposal.configuration, queue.shared, now_, now_ + expected};
  const BatchId id(next_batch_);
  const auto positions = proposal.reservation.valid()
                             ? books_.take_reserved(proposal.invoker, proposal.reservation, id, claim)
                             : books_.take(proposal.invoker, id, claim);
  if (!positions) return false;
  ++next_batch_;
  const Slot slot = batches_.take();
  Batch& batch = batches_[slot];
  batch.id = id;
  batch.application = queue.application;
  batch.function = queue.shared;
  batch.invoker = proposal.invoker;
  batch.instance = enter_instance(proposal.invoker, claim, *positions);
  batch.configuration = proposal.configuration;
  batch.positions = *positions;
  batch.cancelled = false;
  batch_slots_.emplace(id, slot);
  ++controls_[queue.application.index()].in_use;
  ++counters_.batches;
  counters_.planned += proposals.planned ? 1 : 0;
  counters_.configuration_misses += proposals.planned && proposals.configuration_missed ? 1 : 0;
  StartBatch start{.id = id,
                   .invoker = batch.invoker,
                   .instance = batch.instance,
                   .application = queue.application,
                   .function = queue.function,
                   .model_stage = queue.model_stage,
                   .configuration = batch.configuration,
                   .positions = *positions,
                   .earliest = now_,
                   .latest = proposal.latest,
                   .expected = expected};
  start_members(batch, queue.id, proposal, start);
  emit(out, std::move(start), proposals.work);
  return true;
}

InstanceId Scheduler::enter_instance(InvokerId invoker, const Claim& claim, const SlicePositions& positions) {
  if (books_.invokers()[invoker.index()].warm) return InstanceId::none();
  const bool on_gpu = claim.configuration.slices > 0;
  const auto gpu = on_gpu ? std::optional(positions.gpu) : std::nullopt;
  policy::Instance* instance = instances_.free_at(invoker, gpu, claim.function);
  CHECK_MSG(instance != nullptr, "a batch runs only where its instance is loaded");
  ++instance->running;
  books_.room(invoker, gpu).take(claim.function, 1);
  return instance->id;
}

void Scheduler::start_members(Batch& batch, policy::QueueId queue, const policy::Proposal& proposal,
                              StartBatch& start) {
  batch.members.clear();
  start.members.reserve(proposal.members);
  for (std::uint32_t i = 0; i < proposal.members; ++i) {
    const policy::Waiting member = take_waiting(queue, proposal.first);
    const Run& run = runs_[member.run];
    runs_[member.run].stages[member.stage].state = StageRun::State::running;
    if (member.reservation.valid()) {
      auto& promises = requests_[run.request].promises;
      const auto kept = std::find_if(promises.begin(), promises.end(),
                                     [&](const Promise& p) { return p.reservation == member.reservation; });
      CHECK(kept != promises.end());
      if (proposal.reservation != member.reservation) books_.unreserve(kept->invoker, kept->reservation);
      promises.erase(kept);
    }
    start.members.push_back({.invocation = member.invocation,
                             .request = member.request,
                             .run = run.number,
                             .around = run.parent == kNoSlot ? 0 : runs_[requests_[run.request].runs.front()].number,
                             .path = path_of(member.run),
                             .stage = StageId(member.stage),
                             .item = member.item,
                             .attempt = runs_[member.run].stages[member.stage].attempts,
                             .ready = member.ready,
                             .inputs_at = member.inputs_at,
                             .passing = policy::automatic_passing(member.inputs_at, batch.invoker),
                             .bytes = member.bytes});
    batch.members.push_back(member);
  }
  start.queued = static_cast<std::uint32_t>(queues_[queue.index()].waiting.size());
}

}  // namespace sluice::core
