// How requests move through their workflows: joins, conditions, fan-out, errors.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {
namespace {

using State = StageRun::State;

bool over(State state) {
  return state == State::done || state == State::skipped || state == State::failed;
}

// The wait before attempt `attempts` + 1.
Duration retry_delay(const Retry& retry, std::uint16_t attempts) {
  double ms = retry.interval.to_ms();
  for (std::uint16_t i = 1; i < attempts && ms < 1e9; ++i) ms *= retry.backoff;
  const Duration delay = Duration::ms(std::min(ms, 1e9));
  return retry.max_delay ? std::min(delay, *retry.max_delay) : delay;
}

// Errors may say more after their name: `NoFace: the picture is empty`.
bool is_called(const std::string& error, const std::string& name) {
  return error == name || (error.starts_with(name) && error[name.size()] == ':');
}

bool retries(const Stage& stage, const std::string& error, std::uint16_t failures) {
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

}  // namespace

void Scheduler::settle() {
  while (!steps_.empty() || !restarts_.empty()) {
    if (steps_.empty()) {
      const RequestId id = restarts_.front();
      restarts_.erase(restarts_.begin());
      restart(id);
      continue;
    }
    const Step step = steps_.back();
    steps_.pop_back();
    if (!alive(step.run, step.generation)) continue;
    if (step.kind == Step::Kind::begin)
      begin_stage(step.run, step.stage);
    else
      predecessor_over(step.run, step.stage, step.kind == Step::Kind::predecessor_skipped);
  }
}

void Scheduler::start_run(Slot request, std::uint32_t workflow, Slot parent, std::uint32_t parent_stage,
                          std::uint32_t item) {
  const Slot slot = runs_.take();
  const ControlWorkflow& control_workflow = controls_[requests_[request].application.index()].workflows[workflow];
  Run& run = runs_[slot];
  ++run.generation;
  run.number = next_run_++;
  run.request = request;
  run.workflow = workflow;
  run.parent = parent;
  run.parent_stage = parent_stage;
  run.item = item;
  run.stages.assign(control_workflow.stages.size(), {});
  run.open = 0;
  for (const ControlStage& stage : control_workflow.stages) run.open += stage.exit ? 1 : 0;
  requests_[request].runs.push_back(slot);
  for (std::size_t i = control_workflow.entries.size(); i-- > 0;) {
    steps_.push_back({Step::Kind::begin, slot, control_workflow.entries[i], run.generation});
  }
  auto& foretold = requests_[request].foretold;
  if (foretold.empty()) return;
  if (const auto told = foretold.extract(path_of(slot)); !told.empty())
    note(slot, told.mapped().verdicts, told.mapped().fan_outs);
}

void Scheduler::predecessor_over(Slot run, std::uint32_t stage, bool skipped) {
  StageRun& at = runs_[run].stages[stage];
  if (at.state != State::blocked || at.called) return;
  const ControlStage& control = control_stage(run, stage);
  ++at.finished;
  at.skipped = static_cast<std::uint16_t>(at.skipped + (skipped ? 1 : 0));
  const std::uint32_t ran = at.finished - at.skipped;
  const bool all = at.finished == control.predecessors;
  if (all && ran == 0) return stage_over(run, stage, State::skipped);
  // A skipped predecessor counts as finished for `join: all`; fewer wait for predecessors that really ran.
  const bool ready = control.needed == control.predecessors ? all : (ran >= control.needed || all);
  if (ready) steps_.push_back({Step::Kind::begin, run, stage, runs_[run].generation});
}

bool Scheduler::condition_holds(Slot run, std::uint32_t stage) const {
  const ControlStage& control = control_stage(run, stage);
  if (!control.stage->when) return true;
  const auto& stages = runs_[run].stages;
  if (control.stage->when->kind != Condition::Kind::otherwise) return stages[stage].verdict == StageRun::Verdict::holds;
  return std::none_of(control.alternatives.begin(), control.alternatives.end(),
                      [&](std::uint32_t other) { return stages[other].verdict == StageRun::Verdict::holds; });
}

// REQUIRES: its join is satisfied, its wait is over, or its handler was called.
void Scheduler::begin_stage(Slot run, std::uint32_t stage) {
  const ControlStage& control = control_stage(run, stage);
  StageRun& at = runs_[run].stages[stage];
  if (at.state == State::blocked) {
    if (!at.called && !condition_holds(run, stage)) return stage_over(run, stage, State::skipped);
    if (control.stage->wait > Duration{}) {
      at.state = State::waiting;
      return set_timer(now_ + control.stage->wait, run, stage, 0, true);
    }
  } else if (at.state != State::waiting) {
    return;
  }
  if (control.stage->kind == Stage::Kind::fail) {
    const Failure& failure = control.stage->failure;
    return end_at(run, stage, RequestOutcome::failed, failure.error);
  }
  at.state = State::queued;
  if (!control.stage->foreach)
    at.items = 1;
  else if (!at.items_known)
    at.items = 1;
  if (at.items == 0) return stage_over(run, stage, State::done);
  if (control.stage->kind == Stage::Kind::pass && control.body == 0) {
    policy::Waiting passed;
    (void)find_inputs(run, stage, passed);
    at.outputs_at = passed.inputs_at;
    at.bytes = passed.bytes;
    return stage_over(run, stage, State::done);
  }
  start_items(run, stage);
}

void Scheduler::start_items(Slot run, std::uint32_t stage) {
  const ControlStage& control = control_stage(run, stage);
  const std::uint32_t limit =
      control.stage->foreach && control.stage->foreach->limit > 0 ? control.stage->foreach->limit : ~std::uint32_t{0};
  for (;;) {
    StageRun& at = runs_[run].stages[stage];  // start_run may move the runs
    if (at.items_started == at.items || at.items_started - at.items_done >= limit) return;
    const std::uint32_t item = at.items_started++;
    if (control.body != 0)
      start_run(runs_[run].request, control.body, run, stage, item);
    else
      enqueue(run, stage, item);
    if (!runs_[run].used) return;  // a full queue failed the request
  }
}

// Its inputs are where its largest predecessor left its outputs; an entry of a foreach body reads its item. False if
// some were lost.
bool Scheduler::find_inputs(Slot run, std::uint32_t stage, policy::Waiting& waiting) const {
  const Run& at = runs_[run];
  bool there = true;
  Bytes largest(-1);
  for (const StageId before : control_stage(run, stage).stage->after) {
    const StageRun& source = at.stages[before.index()];
    waiting.bytes += source.bytes;
    there = there && !source.lost;
    if (source.outputs_at.valid() && source.bytes > largest) {
      largest = source.bytes;
      waiting.inputs_at = source.outputs_at;
    }
  }
  if (!control_stage(run, stage).stage->after.empty() || at.parent == kNoSlot) return there;
  const auto& foreach = control_stage(at.parent, at.parent_stage).stage->foreach;
  if (!foreach || !foreach->over.stage.valid()) return there;
  const StageRun& source = runs_[at.parent].stages[foreach->over.stage.index()];
  waiting.inputs_at = source.outputs_at;
  return there && !source.lost;
}

void Scheduler::enqueue(Slot run, std::uint32_t stage, std::uint32_t item) {
  const ControlStage& control = control_stage(run, stage);
  Request& request = requests_[runs_[run].request];
  policy::Queue& queue = queues_[control.queue.index()];
  if (queue.waiting.size() >= limits_.queue_max) {
    return end_at(run, stage, RequestOutcome::failed, "QueueFull");
  }
  policy::Waiting waiting{.invocation = InvocationId(next_invocation_),
                          .request = request.id,
                          .run = run,
                          .generation = runs_[run].generation,
                          .stage = stage,
                          .item = item,
                          .ready = now_,
                          .arrival = request.arrival,
                          .deadline = request.deadline,
                          .size = request.size};
  if (!find_inputs(run, stage, waiting)) {
    restarts_.push_back(request.id);
    return;
  }
  ++next_invocation_;
  const Function& function = controls_[request.application.index()].application->function(control.stage->function);
  if (function.input_bytes) waiting.bytes = *function.input_bytes;
  if (runs_[run].parent == kNoSlot) {
    for (const Promise& p : request.promises) {
      if (p.stage != stage) continue;
      waiting.reservation = p.reservation;
      waiting.reserved_at = p.invoker;
    }
  }
  queue.waiting.push_back(waiting);
  mark_busy(queue.id);
  ++request.waiting;
  ++counters_.invocations;
  changed_ = true;
  policies_.dispatch->queued(view(), queue);
  policies_.prewarm->queued(view(), queue);
}

void Scheduler::item_done(Slot run, std::uint32_t stage) {
  StageRun& at = runs_[run].stages[stage];
  ++at.items_done;
  if (at.items_done == at.items)
    stage_over(run, stage, State::done);
  else
    start_items(run, stage);
}

void Scheduler::stage_over(Slot run, std::uint32_t stage, State state) {
  StageRun& at = runs_[run].stages[stage];
  CHECK(!over(at.state));
  at.state = state;
  const ControlStage& control = control_stage(run, stage);
  const std::uint32_t generation = runs_[run].generation;
  const auto kind = state == State::done ? Step::Kind::predecessor_over : Step::Kind::predecessor_skipped;
  for (const std::uint32_t next : control.successors) steps_.push_back({kind, run, next, generation});
  // A handler that nobody called is skipped once all that could call it are over.
  for (const std::uint32_t handler : control.handlers) {
    if (control_stage(run, handler).stage->after.empty())
      steps_.push_back({Step::Kind::predecessor_skipped, run, handler, generation});
  }
  if (control.exit && --runs_[run].open == 0) run_over(run);
}

void Scheduler::run_over(Slot run) {
  const Run& done = runs_[run];
  if (done.parent == kNoSlot) return end_request(done.request, RequestOutcome::finished, StageId::none(), "");
  const Slot parent = done.parent;
  const std::uint32_t stage = done.parent_stage;
  // What the item made is where its last stage ran.
  for (const StageRun& at : done.stages) {
    if (at.outputs_at.valid()) runs_[parent].stages[stage].outputs_at = at.outputs_at;
  }
  // A join may have gone on without its slowest predecessors; what is left of them is of no use any more.
  const Slot request = done.request;
  for (const Slot other : std::vector<Slot>(requests_[request].runs)) {
    if (is_within(other, run)) free_run(other);
  }
  drop_waiting(request);
  item_done(parent, stage);
}

void Scheduler::invocation_failed(const policy::Waiting& member, const std::string& error, bool machine) {
  if (!expected(member)) return;
  StageRun& at = runs_[member.run].stages[member.stage];
  const Stage& stage = *control_stage(member.run, member.stage).stage;
  ++at.attempts;
  if (machine && stage.idempotent && at.attempts <= limits_.attempts_max) {
    ++counters_.retries;
    return enqueue(member.run, member.stage, member.item);
  }
  if (retries(stage, error, at.attempts)) {
    ++counters_.retries;
    return set_timer(now_ + retry_delay(*stage.retry, at.attempts), member.run, member.stage, member.item, false);
  }
  stage_failed(member.run, member.stage, error);
}

// Looks for a handler in this run and, inside foreach bodies, in those around it; without one the request fails.
void Scheduler::stage_failed(Slot run, std::uint32_t stage, const std::string& error) {
  const Slot request = runs_[run].request;
  for (;;) {
    const auto handler = handler_of(*control_stage(run, stage).stage, error);
    if (handler && runs_[run].stages[*handler].state == State::blocked) {
      runs_[run].stages[*handler].called = true;
      // Items of the stage that are still on their way are of no use any more.
      for (const Slot other : std::vector<Slot>(requests_[request].runs)) {
        if (other != run && is_below(other, 0, run, stage)) free_run(other);
      }
      const std::uint32_t generation = runs_[run].generation;
      steps_.push_back({Step::Kind::begin, run, *handler, generation});
      stage_over(run, stage, State::failed);
      if (alive(run, generation)) drop_waiting(request);
      return;
    }
    if (runs_[run].parent == kNoSlot) return end_request(request, RequestOutcome::failed, StageId(stage), error);
    stage = runs_[run].parent_stage;
    run = runs_[run].parent;
  }
}

void Scheduler::end_at(Slot run, std::uint32_t stage, RequestOutcome outcome, const std::string& error) {
  const Slot request = runs_[run].request;
  for (; runs_[run].parent != kNoSlot; run = runs_[run].parent) stage = runs_[run].parent_stage;
  end_request(request, outcome, StageId(stage), error);
}

void Scheduler::end_request(Slot slot, RequestOutcome outcome, StageId stage, const std::string& error) {
  Request& request = requests_[slot];
  counters_.finished += outcome == RequestOutcome::finished ? 1 : 0;
  counters_.failed += outcome == RequestOutcome::failed || outcome == RequestOutcome::deadline_exceeded ? 1 : 0;
  counters_.cancelled += outcome == RequestOutcome::cancelled ? 1 : 0;
  answers_.push_back(
      Reply{.request = request.id, .outcome = outcome, .stage = stage, .error = error, .cost = request.cost});
  for (const InvokerId invoker : request.left_at) releases_.push_back({invoker, request.id});
  end_promises(slot);
  for (const Slot run : request.runs) runs_.give_back(run);
  request.runs.clear();
  request.foretold.clear();
  drop_waiting(slot);
  policies_.dispatch->ended(view(), request.id);
  request_slots_.erase(request.id);
  --controls_[request.application.index()].in_use;
  requests_.give_back(slot);
}

void Scheduler::free_run(Slot run) {
  auto& runs = requests_[runs_[run].request].runs;
  runs.erase(std::find(runs.begin(), runs.end(), run));
  runs_.give_back(run);
}

// Whether a stage of a run is `stage` of `run` or inside of it.
bool Scheduler::is_below(Slot at, std::uint32_t at_stage, Slot run, std::uint32_t stage) const {
  while (at != kNoSlot && at != run) {
    at_stage = runs_[at].parent_stage;
    at = runs_[at].parent;
  }
  return at == run && at_stage == stage;
}

// Whether a run is `run` or inside of it.
bool Scheduler::is_within(Slot at, Slot run) const {
  while (at != kNoSlot && at != run) at = runs_[at].parent;
  return at == run;
}

bool Scheduler::expected(const policy::Waiting& member) const {
  return alive(member.run, member.generation) && !over(runs_[member.run].stages[member.stage].state);
}

// Takes the invocations of a request out of the queues that nobody waits for any more.
void Scheduler::drop_waiting(Slot slot) {
  Request& request = requests_[slot];
  for (std::size_t b = busy_queues_.size(); b-- > 0 && request.waiting > 0;) {
    auto& waiting = queues_[busy_queues_[b]].waiting;
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].request != request.id || expected(waiting[i])) continue;
      waiting.erase(i);
      --request.waiting;
    }
    if (waiting.empty()) mark_idle(queues_[busy_queues_[b]].id);
  }
}

void Scheduler::set_timer(Time at, Slot run, std::uint32_t stage, std::uint32_t item, bool begins) {
  timers_.insert({.at = at,
                  .run = run,
                  .stage = stage,
                  .item = item,
                  .order = next_timer_++,
                  .begins = begins,
                  .generation = runs_[run].generation});
}

}  // namespace sluice::core
