// Decisions: who is let in, what starts where.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"
#include "policy/loading.h"
#include "policy/passing.h"
#include "profile/transfer.h"

namespace sluice::core {
namespace {

constexpr Duration kPrewarmGap = Duration::ms(1);
// It would never let time pass.
constexpr const char* kSameInstant = "a policy wants to be asked again at the same instant";

bool is_due(std::optional<Time> at, Time now) {
  return at && *at <= now;
}

}  // namespace

void Scheduler::decide(Time now, Commands& out) {
  CHECK(now >= now_);
  now_ = now;
  runs_.fire(now);
  follow();
  std::erase_if(announced_, [&](const RequestAnnounced& a) { return a.expected < now; });
  admit(now, out);
  if (changed_ || is_due(wake_, now)) {
    dispatch(now, out);
    wake_ = queues_.busy().empty() ? std::nullopt : policies_.dispatch->next_wake(view());
    CHECK_MSG(!wake_ || *wake_ > now_, kSameInstant);
    if (!prewarm_at_ || *prewarm_at_ > prewarm_after_) prewarm_at_ = prewarm_after_;
  }
  changed_ = false;
  if (books_.cold_invokers() > 0) prewarm(out);
  for (Reply& answer : answers_) emit(out, std::move(answer));
  answers_.clear();
  for (const ReleaseObjects& release : releases_) emit(out, release);
  releases_.clear();
  for (const CancelBatch& cancel : cancels_) emit(out, cancel);
  cancels_.clear();
  retire_removed();
}

void Scheduler::retire_removed() {
  for (const ApplicationId id : applications_.left()) {
    for (const policy::QueueId queue : applications_.controls()[id.index()].queues)
      policies_.dispatch->removed(view(), queues_[queue]);
    applications_.retire(id);
  }
}

// Prewarming looks at every function and instance, and nobody waits for what it brings (loads for those who wait are
// dispatch's): after a change it is asked within a millisecond, not at every one of many thousand requests a second.
void Scheduler::prewarm(Commands& out) {
  std::vector<Action> actions;
  const bool asked = is_due(prewarm_at_, now_);
  for (bool loads = asked; loads;) {
    loads = false;
    wishes_.clear();
    policies_.prewarm->decide(view(), wishes_);
    for (const InstanceId id : wishes_.evict) loads_.evict(id, actions);
    for (const policy::Wishes::Load& wish : wishes_.load) loads = loads_.load(view(), wish, actions) || loads;
  }
  loads_.proceed(view(), actions);
  for (Action& action : actions) emit(out, std::move(action));
  if (!asked) return;
  prewarm_after_ = now_ + kPrewarmGap;
  prewarm_at_ = policies_.prewarm->next_wake(view());
  CHECK_MSG(!prewarm_at_ || *prewarm_at_ > now_, kSameInstant);
}

std::optional<Time> Scheduler::next_wake() const {
  std::optional<Time> next = runs_.next_timer();
  const auto earlier = [&](std::optional<Time> other) {
    if (other && (!next || *other < *next)) next = other;
  };
  earlier(wake_);
  if (books_.cold_invokers() > 0) earlier(prewarm_at_);
  return next;
}

void Scheduler::emit(Commands& out, Action action, const Work& work) {
  out.list.push_back({CommandId(next_command_++), std::move(action), work});
}

policy::View Scheduler::view() const {
  return {.now = now_,
          .queues = queues_.all(),
          .busy_queues = queues_.busy(),
          .invokers = books_.invokers(),
          .by_free = books_.by_free(),
          .applications = applications_.models(),
          .functions = applications_.functions(),
          .instances = loads_.all(),
          .tenants = tenants_.left(),
          .by_function = loads_.instances().by_function(),
          .by_invoker = loads_.instances().by_invoker(),
          .demand = demands_.all(),
          .announced = announced_,
          .transfer = transfer_};
}

void Scheduler::reject(const Reject& refused, Commands& out) {
  ++counters_.rejected;
  emit(out, refused);
}

void Scheduler::admit(Time, Commands& out) {
  for (const RequestArrived& arrival : arrivals_) {
    if (!applications_.takes_requests(arrival.application)) {
      reject({.request = arrival.id, .reason = RejectReason::not_deployed}, out);
    } else if (requests_.size() >= limits_.requests_max) {
      reject({.request = arrival.id,
              .reason = RejectReason::queue_full,
              .needed = static_cast<double>(requests_.size() + 1),
              .available = static_cast<double>(limits_.requests_max)},
             out);
    } else {
      const policy::Admitted admitted = policies_.admission->admit(view(), arrival);
      if (admitted.loaded_by && announced_.size() < limits_.announced_max) {  // as if more of them were known ahead
        announced_.push_back({.application = arrival.application, .expected = *admitted.loaded_by});
        changed_ = true;
      }
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
  const Slot slot = requests_.add(arrival, now_);
  applications_.use(arrival.application);
  requests_.promise(slot, admitted.reserved, books_);
  emit(out, Accept{.request = arrival.id,
                   .promised_finish = admitted.promised.value_or(arrival.deadline),
                   .cost = admitted.cost});
  if (books_.cold_invokers() > 0) {
    for (const policy::QueueId queue : applications_.controls()[arrival.application.index()].queues)
      if (queues_[queue].handler == nullptr) demands_.expect(requests_[slot], queues_[queue].shared);
  }
  runs_.begin(slot, arrival, now_);
  follow();
}

void Scheduler::dispatch(Time, Commands& out) {
  if (queues_.busy().empty()) return;
  policies_.dispatch->begin(view());
  for (std::size_t i = 0; i < limits_.decisions_max; ++i) {
    if (!policies_.dispatch->next(view(), proposals_)) return;
    ++counters_.decisions;
    drop(proposals_);
    std::optional<std::size_t> booked;
    for (std::size_t p = 0; p < proposals_.ranked.size() && !booked; ++p) {
      const Booked done = book(proposals_, proposals_.ranked[p], out);
      if (done == Booked::load) break;
      if (done == Booked::batch) booked = p;
    }
    policies_.dispatch->told(view(), proposals_, booked);
  }
}

policy::Waiting Scheduler::take_waiting(policy::QueueId queue, std::size_t at) {
  const policy::Waiting waiting = queues_.take(queue, at);
  requests_[*requests_.find(waiting.request)].waiting.remove(waiting.invocation.value());
  return waiting;
}

// What a policy gives up: nothing of it runs any more, and its caller hears so at once.
void Scheduler::drop(const policy::Proposals& proposals) {
  if (proposals.drop == 0) return;
  CHECK(proposals.ranked.empty());
  const auto& waiting = queues_[proposals.queue].waiting;
  CHECK(proposals.drop_first + proposals.drop <= waiting.size());
  std::vector<policy::Waiting> dropped;
  for (std::uint32_t i = 0; i < proposals.drop; ++i) dropped.push_back(waiting[proposals.drop_first + i]);
  for (const policy::Waiting& d : dropped) {
    runs_.end(place_of(d), RequestOutcome::deadline_exceeded, "DeadlineExceeded", now_);
    follow();
  }
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

Scheduler::Booked Scheduler::book(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out) {
  if (proposal.load == Level::none) return book_batch(proposals, proposal, out) ? Booked::batch : Booked::nothing;
  return book_load(queues_[proposals.queue].shared, proposal, out) ? Booked::load : Booked::nothing;
}

bool Scheduler::book_load(policy::SharedFunctionId function, const policy::Proposal& proposal, Commands& out) {
  std::vector<Action> actions;
  const policy::Wishes::Load wish{
      .function = function, .invoker = proposal.invoker, .level = proposal.load, .gpu = proposal.gpu};
  const bool loads = loads_.load(view(), policy::for_waiting(view(), wish), actions);
  for (Action& action : actions) emit(out, std::move(action));
  return loads;
}

// Re-checks a proposal and books it; false if it does not fit after all.
bool Scheduler::book_batch(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out) {
  policy::Queue& queue = queues_[proposals.queue];
  CHECK(proposal.members >= 1 && proposal.members <= proposal.configuration.batch);
  CHECK(proposal.first + proposal.members <= queue.waiting.size());
  CHECK(books_.knows(proposal.invoker) && proposal.latest >= now_);
  const std::uint32_t tenant = applications_.models()[queue.application.index()].tenant;
  if (!tenants_.left()[tenant].covers(proposal.configuration)) return false;
  const Duration expected = expected_time(queue, proposal);
  const Claim claim{proposal.configuration, queue.shared, now_, now_ + expected};
  const BatchId id = batches_.next_id();
  const auto positions = proposal.reservation.valid()
                             ? books_.take_reserved(proposal.invoker, proposal.reservation, id, claim)
                             : books_.take(proposal.invoker, id, claim);
  if (!positions) return false;
  const Slot slot = batches_.add(id);
  Batch& batch = batches_[slot];
  batch.application = queue.application;
  batch.function = queue.shared;
  batch.invoker = proposal.invoker;
  batch.instance = loads_.enter(proposal.invoker, claim, *positions);
  batch.configuration = proposal.configuration;
  batch.positions = *positions;
  applications_.use(queue.application);
  tenants_.take(tenant, batch.configuration);
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
  start_members(slot, queue.id, proposal, start);
  emit(out, std::move(start), proposals.work);
  return true;
}

void Scheduler::start_members(Slot slot, policy::QueueId queue, const policy::Proposal& proposal, StartBatch& start) {
  Batch& batch = batches_[slot];
  start.members.reserve(proposal.members);
  for (std::uint32_t i = 0; i < proposal.members; ++i) {
    const policy::Waiting waiting = take_waiting(queue, proposal.first);
    const Place place = place_of(waiting);
    Request& request = requests_[*runs_.request_of(place)];
    if (waiting.reservation.valid()) Requests::keep_promise(request, waiting.reservation, proposal.reservation, books_);
    request.running.add(batch.id.value(), slot);
    runs_.started(place, batch.invoker);
    BatchMember member{.invocation = waiting.invocation,
                       .request = waiting.request,
                       .ready = waiting.ready,
                       .inputs_at = waiting.inputs_at,
                       .passing = policy::automatic_passing(waiting.inputs_at, batch.invoker),
                       .bytes = waiting.bytes};
    runs_.name(place, batch.invoker, member);
    start.members.push_back(std::move(member));
    batch.members.push_back(waiting);
  }
  start.queued = static_cast<std::uint32_t>(queues_[queue].waiting.size());
}

}  // namespace sluice::core
