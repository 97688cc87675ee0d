// How runs fail, end and begin again.
#include <algorithm>
#include <utility>

#include "core/runs.h"

namespace sluice::core {
namespace {

// The wait before attempt `attempts` + 1.
Duration retry_delay(const Retry& retry, std::uint32_t attempts) {
  double ms = retry.interval.to_ms();
  for (std::uint32_t i = 1; i < attempts && ms < 1e9; ++i) ms *= retry.backoff;
  const Duration delay = Duration::ms(std::min(ms, 1e9));
  return retry.max_delay ? std::min(delay, *retry.max_delay) : delay;
}

// Errors may say more after their name: `NoFace: the picture is empty`.
bool is_called(const std::string& error, const std::string& name) {
  return error == name || (error.starts_with(name) && error[name.size()] == ':');
}

bool tries_again(const Stage& stage, const std::string& error, std::uint32_t failures) {
  if (!stage.retry || !stage.idempotent || failures > stage.retry->attempts) return false;
  const auto& on = stage.retry->on;
  return on.empty() ||
         std::any_of(on.begin(), on.end(), [&](const std::string& name) { return is_called(error, name); });
}

std::optional<std::uint32_t> handler_of(const Stage& stage, const std::string& error) {
  std::optional<std::uint32_t> any;
  for (const Catch& c : stage.catches) {
    if (is_called(error, c.error)) return c.handler.value();
    if (c.error == "all") any = c.handler.value();
  }
  return any;
}

bool starts_later(StageState state) {
  return state == StageState::blocked || state == StageState::waiting || state == StageState::queued;
}

}  // namespace

void Runs::failed(const Place& place, const std::string& error, bool machine, Time now) {
  if (!expects(place)) return;
  now_ = now;
  const Stage& stage = *control(place.run, place.stage).stage;
  Place again = place;
  ++again.attempts;
  if (machine && stage.idempotent && again.attempts <= attempts_max_) {
    ++retries_;
    get_ready(again);
  } else if (tries_again(stage, error, again.attempts)) {
    ++retries_;
    runs_.set_timer(now_ + retry_delay(*stage.retry, again.attempts), again, false);
  } else {
    stage_failed(place.run, place.stage, error);
  }
  settle();
}

void Runs::expired(const Place& place, Time now) {
  if (!runs_.alive(place.run, place.generation)) return;
  if (!control(place.run, place.stage).stage->idempotent) --walks_[runs_[place.run].request].unrepeatable;
  if (!expects(place)) return;
  now_ = now;
  ++retries_;
  get_ready(place);
  settle();
}

void Runs::not_run(const Place& place, const std::string& error, Time now) {
  if (!runs_.alive(place.run, place.generation)) return;
  if (!control(place.run, place.stage).stage->idempotent) --walks_[runs_[place.run].request].unrepeatable;
  if (!expects(place)) return;
  now_ = now;
  Place again = place;
  if (++again.attempts > attempts_max_) {
    stage_failed(place.run, place.stage, error);
  } else {
    ++retries_;
    get_ready(again);
  }
  settle();
}

void Runs::fail_stage(const Place& place, const std::string& error, Time now) {
  if (!expects(place)) return;
  now_ = now;
  stage_failed(place.run, place.stage, error);
  settle();
}

// Looks for a handler in this run and, inside foreach bodies, in those around it; without one the request fails.
void Runs::stage_failed(Slot run, std::uint32_t stage, const std::string& error) {
  for (;;) {
    const auto handler = handler_of(*control(run, stage).stage, error);
    if (handler && runs_[run].stages[*handler].state == StageState::blocked) {
      runs_[run].stages[*handler].called = true;
      // Items of the stage that are still on their way are of no use any more.
      runs_.remove_inside(run, stage);
      const Slot request = runs_[run].request;
      const std::uint32_t generation = runs_[run].generation;
      steps_.push_back({Step::Kind::begin, run, *handler, generation});
      stage_over(run, stage, StageState::failed);
      if (runs_.alive(run, generation)) effects_.emplace_back(Withdrawn{request});
      return;
    }
    if (runs_[run].parent == kNoSlot)
      return end_request(runs_[run].request, RequestOutcome::failed, StageId(stage), error);
    stage = runs_[run].parent_stage;
    run = runs_[run].parent;
  }
}

void Runs::end(const Place& place, RequestOutcome outcome, const std::string& error, Time now) {
  if (!expects(place)) return;
  now_ = now;
  end_at(place.run, place.stage, outcome, error);
  settle();
}

// Because of a stage of a run, perhaps far inside.
void Runs::end_at(Slot run, std::uint32_t stage, RequestOutcome outcome, const std::string& error) {
  const Slot request = runs_[run].request;
  end_request(request, outcome, runs_.outermost_stage({.run = run, .stage = stage}), error);
}

void Runs::cancel(Slot request, Time now) {
  now_ = now;
  end_request(request, RequestOutcome::cancelled, StageId::none(), "");
  settle();
}

void Runs::end_request(Slot request, RequestOutcome outcome, StageId stage, const std::string& error) {
  Walk& walk = walks_[request];
  const std::uint64_t outermost = outcome == RequestOutcome::finished ? runs_[walk.root].number : 0;
  runs_.remove(std::exchange(walk.root, kNoSlot));
  effects_.emplace_back(Ended{request, outcome, stage, error, std::exchange(walk.left_at, {}), outermost});
  walk = {};
}

// Marks what a run and those inside of it left there as lost; true if any of it is still needed. What a running
// invocation reads is not missed before it fails.
bool Runs::mark_lost(Slot run, InvokerId invoker) {
  bool needed = false;
  for (std::uint32_t s = 0; s < runs_[run].stages.size(); ++s) {
    if (!runs_[run].stages[s].outputs.lose(invoker)) continue;
    const ControlStage& lost = control(run, s);
    needed = needed || lost.exit ||
             std::any_of(lost.successors.begin(), lost.successors.end(),
                         [&](std::uint32_t next) { return starts_later(runs_[run].stages[next].state); });
  }
  for (Slot child = runs_[run].first_child; child != kNoSlot; child = runs_[child].next) {
    if (mark_lost(child, invoker)) needed = true;
  }
  return needed;
}

bool Runs::lose_objects(Slot request, InvokerId invoker) {
  Walk& walk = walks_[request];
  if (walk.root == kNoSlot) return false;
  std::erase(walk.left_at, invoker);
  return mark_lost(walk.root, invoker);
}

void Runs::lose(Slot request, InvokerId invoker, Time now) {
  now_ = now;
  if (lose_objects(request, invoker)) begin_again(request);
  settle();
}

void Runs::lose(InvokerId invoker, const std::set<RequestId>& held, Time now) {
  now_ = now;
  for (Slot request = 0; request < walks_.size(); ++request) {
    const Walk& walk = walks_[request];
    if (std::find(walk.left_at.begin(), walk.left_at.end(), invoker) == walk.left_at.end()) continue;
    if (!held.contains(walk.id) && lose_objects(request, invoker)) begin_again(request);
  }
  // By id: the order repeats whatever slots they have.
  std::sort(restarts_.begin(), restarts_.end(), [&](Slot a, Slot b) { return walks_[a].id < walks_[b].id; });
  settle();
}

// However much of it was lost.
void Runs::begin_again(Slot request) {
  if (!std::exchange(walks_[request].restarting, true)) restarts_.push_back(request);
}

// From the beginning, with what is left of its time: mostly all its stages ran on the machine that is gone anyway.
void Runs::restart(Slot request) {
  if (!std::exchange(walks_[request].restarting, false)) return;  // ended meanwhile
  if (walks_[request].unrepeatable > 0)
    return end_request(request, RequestOutcome::failed, walks_[request].unrepeatable_stage, "ObjectLost");
  if (++walks_[request].restarts > attempts_max_)
    return end_request(request, RequestOutcome::failed, StageId::none(), "ObjectLost");
  ++retries_;
  runs_.remove(walks_[request].root);
  walks_[request].foretold.clear();
  effects_.emplace_back(BeganAgain{request});
  walks_[request].root = start_run(request, 0, kNoSlot, 0, 0);
  note(walks_[request].root, walks_[request].verdicts, walks_[request].fan_outs);
}

}  // namespace sluice::core
