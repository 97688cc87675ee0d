// When machines or what they held are lost: which requests begin again, which promises end.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {
namespace {

bool starts_later(StageRun::State state) {
  return state == StageRun::State::blocked || state == StageRun::State::waiting || state == StageRun::State::queued;
}

}  // namespace

// Marks what the request left there as lost; true if it still needs any of it. What a running invocation reads is not
// missed before it fails.
bool Scheduler::lose_objects(Slot slot, InvokerId invoker) {
  Request& request = requests_[slot];
  std::erase(request.left_at, invoker);
  bool needed = false;
  for (const Slot run : request.runs) {
    for (std::uint32_t s = 0; s < runs_[run].stages.size(); ++s) {
      StageRun& at = runs_[run].stages[s];
      if (at.outputs_at != invoker) continue;
      at.outputs_at = InvokerId::none();
      at.lost = true;
      const ControlStage& control = control_stage(run, s);
      needed = needed || control.exit ||
               std::any_of(control.successors.begin(), control.successors.end(),
                           [&](std::uint32_t next) { return starts_later(runs_[run].stages[next].state); });
    }
  }
  return needed;
}

void Scheduler::on(const ObjectLost& event) {
  const auto it = request_slots_.find(event.request);
  if (it != request_slots_.end() && lose_objects(it->second, event.invoker)) restarts_.push_back(event.request);
}

void Scheduler::lose_objects_of(InvokerId invoker, const std::set<RequestId>& held) {
  std::vector<RequestId> again;
  for (Slot slot = 0; slot < requests_.size(); ++slot) {
    const Request& request = requests_[slot];
    const auto& left_at = request.left_at;
    if (!request.used || std::find(left_at.begin(), left_at.end(), invoker) == left_at.end()) continue;
    if (held.contains(request.id)) continue;
    if (lose_objects(slot, invoker)) again.push_back(request.id);
  }
  std::sort(again.begin(), again.end());  // by id: the order repeats whatever slots they have
  restarts_.insert(restarts_.end(), again.begin(), again.end());
}

// From the beginning, with what is left of its time: mostly all its stages ran on the machine that is gone anyway.
void Scheduler::restart(RequestId id) {
  const auto it = request_slots_.find(id);
  if (it == request_slots_.end()) return;
  const Slot slot = it->second;
  Request& request = requests_[slot];
  for (const Slot run : request.runs) {
    for (std::uint32_t s = 0; s < runs_[run].stages.size(); ++s) {
      const StageRun::State state = runs_[run].stages[s].state;
      const bool ran = state == StageRun::State::done || state == StageRun::State::running;
      if (ran && !control_stage(run, s).stage->idempotent) {
        return end_at(run, s, RequestOutcome::failed, "ObjectLost");
      }
    }
  }
  if (++request.restarts > limits_.attempts_max) {
    return end_request(slot, RequestOutcome::failed, StageId::none(), "ObjectLost");
  }
  ++counters_.retries;
  for (const Slot run : request.runs) runs_.give_back(run);
  request.runs.clear();
  request.foretold.clear();
  drop_waiting(slot);
  end_promises(slot);
  start_run(slot, 0, kNoSlot, 0, 0);
  note(requests_[slot].runs.front(), requests_[slot].verdicts, requests_[slot].fan_outs);
}

void Scheduler::promise(Slot slot, const std::vector<policy::Reserved>& reserved) {
  for (const policy::Reserved& r : reserved) {
    const ReservationId id(next_reservation_++);
    books_.reserve(r.invoker, id, r);
    requests_[slot].promises.push_back({r.stage, id, r.invoker});
  }
}

void Scheduler::end_promises(Slot slot) {
  for (const Promise& p : requests_[slot].promises) books_.unreserve(p.invoker, p.reservation);
  requests_[slot].promises.clear();
}

// The machine is gone, its books with it; whoever waits for a promise there waits for anything that fits.
void Scheduler::lose_promises_of(InvokerId invoker) {
  for (Slot slot = 0; slot < requests_.size(); ++slot) {
    if (requests_[slot].used)
      std::erase_if(requests_[slot].promises, [&](const Promise& p) { return p.invoker == invoker; });
  }
  for (const std::uint32_t queue : busy_queues_) {
    auto& waiting = queues_[queue].waiting;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].reserved_at != invoker) continue;
      waiting.edit(i).reservation = ReservationId::none();
      waiting.edit(i).reserved_at = InvokerId::none();
    }
  }
}

}  // namespace sluice::core
