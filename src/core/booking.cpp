#include "core/booking.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/waiting.h"
#include "policy/loading.h"
#include "profile/transfer.h"

namespace sluice::core {
namespace {

// How long the batch is believed to hold what it takes.
struct Expected {
  Duration moving, execution;
  [[nodiscard]] Duration whole() const { return moving + execution; }
};

// The first member from a position of the queue on: whoever is there, or who was promised a place in the batch.
std::uint32_t next_member(const policy::Queue& queue, const policy::Proposal& proposal, std::uint32_t position) {
  if (!proposal.reservation.valid()) return position;
  while (queue.waiting[position].reservation != proposal.reservation) {
    ++position;
    CHECK(position < queue.waiting.size());
  }
  return position;
}

Expected expected_time(const State& state, const policy::Queue& queue, const policy::Proposal& proposal) {
  const plan::Candidates& candidates = queue.model->stages[queue.model_stage].candidates;
  const plan::Candidate* candidate = plan::find(candidates, proposal.configuration);
  if (candidate == nullptr) {
    CHECK(proposal.reservation.valid());  // promised before its profile changed
    return {.execution = state.books.promised_time(proposal.invoker, proposal.reservation)};
  }
  profile::BatchInputs inputs;
  std::uint32_t position = proposal.first;
  for (std::uint32_t i = 0; i < proposal.members; ++i, ++position) {
    position = next_member(queue, proposal, position);
    const policy::Waiting& member = queue.waiting[position];
    if (!member.inputs_at.valid()) continue;
    inputs.add(member.inputs_at == proposal.invoker, member.bytes);
  }
  return {.moving = profile::transfer_time(state.transfer, inputs), .execution = Duration::ms(candidate->ms)};
}

// The share of the other slices of its GPU that batches hold, those that are about to end included.
double neighbours_of(const policy::Invoker& invoker, const SlicePositions& own) {
  if (own.slices == 0) return 0;
  const std::uint32_t others = invoker.gpus[own.gpu].slices - static_cast<std::uint32_t>(std::popcount(own.slices));
  if (others == 0) return 0;
  std::uint64_t held = 0;
  for (const policy::Booking& booking : invoker.bookings)
    if (!booking.reserved && booking.positions.gpu == own.gpu) held |= booking.positions.slices;
  return std::popcount(held & ~own.slices) / static_cast<double>(others);
}

void start_members(State& state, Slot slot, policy::QueueId queue, const policy::Proposal& proposal,
                   StartBatch& start) {
  Batch& batch = state.batches[slot];
  start.members.reserve(proposal.members);
  std::uint32_t position = proposal.first;
  for (std::uint32_t i = 0; i < proposal.members; ++i) {
    position = next_member(state.queues[queue], proposal, position);
    const policy::Waiting waiting = take_waiting(state, queue, position);
    const Place place = place_of(waiting);
    Request& request = state.requests[*state.runs.request_of(place)];
    if (waiting.reservation.valid())
      Requests::keep_promise(request, waiting.reservation, proposal.reservation, state.books);
    request.running.add(batch.id.value(), slot);
    state.runs.started(place, batch.invoker);
    BatchMember member{.invocation = waiting.invocation,
                       .request = waiting.request,
                       .ready = waiting.ready,
                       .inputs_at = waiting.inputs_at,
                       .bytes = waiting.bytes};
    state.runs.name(place, batch.invoker, member);
    start.members.push_back(std::move(member));
    batch.members.push_back(waiting);
  }
  start.queued = static_cast<std::uint32_t>(state.queues[queue].waiting.size());
}

// Re-checks a proposal and books it; false if it does not fit after all.
bool book_batch(State& state, const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out) {
  policy::Queue& queue = state.queues[proposals.queue];
  CHECK(proposal.members >= 1 && proposal.members <= proposal.configuration.batch);
  CHECK(proposal.first + proposal.members <= queue.waiting.size());
  CHECK(state.books.knows(proposal.invoker) && proposal.latest >= state.now);
  const std::uint32_t tenant = state.applications.models()[queue.application.index()].tenant;
  if (!state.tenants.left()[tenant].covers(proposal.configuration)) return false;
  const Expected expected = expected_time(state, queue, proposal);
  const Claim claim{proposal.configuration, queue.shared, state.now, state.now + expected.whole()};
  const BatchId id = state.batches.next_id();
  const auto positions =
      proposal.reservation.valid()
          ? state.books.take_reserved(proposal.invoker, proposal.reservation, id, claim, proposal.members)
          : state.books.take(proposal.invoker, id, claim);
  if (!positions) return false;
  const Slot slot = state.batches.add(id);
  Batch& batch = state.batches[slot];
  batch.application = queue.application;
  batch.function = queue.shared;
  batch.queue = queue.id;
  batch.invoker = proposal.invoker;
  batch.instance = state.loads.enter(proposal.invoker, claim, *positions);
  batch.configuration = proposal.configuration;
  batch.positions = *positions;
  batch.neighbours = neighbours_of(state.books.invokers()[batch.invoker.index()], *positions);
  batch.started = state.now;
  batch.moving = expected.moving;
  batch.execution = expected.execution;
  batch.after = state.books.follow(batch.invoker, id);
  for (const BatchId before : batch.after) state.batches[state.batches.find(before)].followers.push_back(id);
  state.applications.use(queue.application);
  state.tenants.take(tenant, batch.configuration);
  ++state.counters.batches;
  state.counters.planned += proposals.planned ? 1 : 0;
  state.counters.configuration_misses += proposals.planned && proposals.configuration_missed ? 1 : 0;
  StartBatch start{.id = id,
                   .invoker = batch.invoker,
                   .instance = batch.instance,
                   .application = queue.application,
                   .function = queue.function,
                   .model_stage = queue.model_stage,
                   .configuration = batch.configuration,
                   .positions = *positions,
                   .earliest = state.now,
                   .latest = proposal.latest,
                   .expected = expected.whole(),
                   .reason = proposal.reason,
                   .after = batch.after};
  start_members(state, slot, queue.id, proposal, start);
  state.tell(out, std::move(start), proposals.work);
  return true;
}

bool book_load(State& state, policy::SharedFunctionId function, const policy::Proposal& proposal, Commands& out) {
  std::vector<Action> actions;
  const policy::Wishes::Load wish{
      .function = function, .invoker = proposal.invoker, .level = proposal.load, .gpu = proposal.gpu};
  const bool loads = state.loads.load(state.view(), policy::for_waiting(state.view(), wish), actions);
  for (Action& action : actions) state.tell(out, std::move(action));
  return loads;
}

}  // namespace

Booked book(State& state, const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out) {
  if (proposal.load == Level::none)
    return book_batch(state, proposals, proposal, out) ? Booked::batch : Booked::nothing;
  return book_load(state, state.queues[proposals.queue].shared, proposal, out) ? Booked::load : Booked::nothing;
}

}  // namespace sluice::core
