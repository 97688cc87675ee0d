// How runs move on: joins, conditions, waits, fan-out.
#include "core/runs.h"

#include <algorithm>

#include "base/check.h"
#include "domain/alternatives.h"
#include "domain/limits.h"

namespace sluice::core {

void Runs::settle() {
  std::size_t restarted = 0;
  while (!steps_.empty() || restarted < restarts_.size()) {
    if (steps_.empty()) {
      restart(restarts_[restarted++]);
      continue;
    }
    const Step step = steps_.back();
    steps_.pop_back();
    if (!runs_.alive(step.run, step.generation)) continue;
    if (step.kind == Step::Kind::begin)
      begin_stage(step.run, step.stage);
    else
      predecessor_over(step.run, step.stage, step.kind == Step::Kind::predecessor_skipped);
  }
  restarts_.clear();
}

void Runs::begin(Slot request, const RequestArrived& arrival, Time now) {
  now_ = now;
  if (request >= walks_.size()) walks_.resize(request + 1);
  walks_[request] = {
      .id = arrival.id, .application = arrival.application, .verdicts = arrival.verdicts, .fan_outs = arrival.fan_outs};
  walks_[request].root = start_run(request, 0, kNoSlot, 0, 0);
  note(walks_[request].root, arrival.verdicts, arrival.fan_outs);
  settle();
}

void Runs::fire(Time now) {
  now_ = now;
  while (const std::optional<Timer> timer = runs_.take_due(now)) {
    if (!expects(timer->place)) continue;
    const StageState state = at(timer->place).state;
    if (timer->begins)
      begin_stage(timer->place.run, timer->place.stage);
    else if (state == StageState::running || state == StageState::queued)
      get_ready(timer->place);
    settle();
  }
}

void Runs::started(const Place& place, InvokerId invoker) {
  at(place).state = StageState::running;
  hold(runs_[place.run].request, invoker);
  if (control(place.run, place.stage).stage->idempotent) return;
  Walk& walk = walks_[runs_[place.run].request];
  if (walk.unrepeatable++ == 0) walk.unrepeatable_stage = runs_.outermost_stage(place);
}

void Runs::succeeded(const Place& place, InvokerId invoker, const InvocationResult& result, Time now) {
  if (!expects(place)) return;
  now_ = now;
  at(place).outputs.add(invoker, result.bytes);
  hold(runs_[place.run].request, invoker);
  note(place.run, result.verdicts, result.fan_outs);
  item_done(place.run, place.stage);
  settle();
}

void Runs::hold(Slot request, InvokerId invoker) {
  if (walks_[request].root == kNoSlot) return;  // it has just ended
  auto& left_at = walks_[request].left_at;
  const auto at = std::lower_bound(left_at.begin(), left_at.end(), invoker);
  if (at == left_at.end() || *at != invoker) left_at.insert(at, invoker);
}

bool Runs::expects(const Place& place) const {
  return runs_.alive(place.run, place.generation) && !runs_[place.run].stages[place.stage].over();
}

std::optional<Slot> Runs::request_of(const Place& place) const {
  return runs_.alive(place.run, place.generation) ? std::optional(runs_[place.run].request) : std::nullopt;
}

const ControlStage& Runs::control_of(const Place& place) const {
  return control(place.run, place.stage);
}

// Every invoker that has run something of the request, or runs it now: an object may be read far from where it was
// made, and conditions compare what stages left that run side by side. Of two of those, the one that started later
// names the other's invoker.
void Runs::name(const Place& place, InvokerId invoker, BatchMember& out) const {
  const Run& run = runs_[place.run];
  out.run = run.number;
  out.around = run.parent == kNoSlot ? 0 : runs_[walks_[run.request].root].number;
  out.path = runs_.path_of(place.run);
  out.stage = StageId(place.stage);
  out.item = place.item;
  out.attempt = place.attempts;
  for (const InvokerId other : walks_[run.request].left_at) {
    if (other != invoker && out.places.size() < limits::places_max) out.places.push_back(other);
  }
}

Slot Runs::start_run(Slot request, std::uint32_t workflow_index, Slot parent, std::uint32_t parent_stage,
                     std::uint32_t item) {
  const Slot slot = runs_.add(request, parent, parent_stage, item);
  Run& run = runs_[slot];
  run.workflow = workflow_index;
  const ControlWorkflow& stages = workflow(run);
  run.stages.assign(stages.stages.size(), {});
  run.open = 0;
  for (const ControlStage& stage : stages.stages) run.open += stage.exit ? 1 : 0;
  for (std::size_t i = stages.entries.size(); i-- > 0;) {
    steps_.push_back({Step::Kind::begin, slot, stages.entries[i], run.generation});
  }
  auto& foretold = walks_[request].foretold;
  if (foretold.empty()) return slot;
  if (const auto told = foretold.extract(runs_.path_of(slot)); !told.empty())
    note(slot, told.mapped().verdicts, told.mapped().fan_outs);
  return slot;
}

void Runs::predecessor_over(Slot run, std::uint32_t stage, bool skipped) {
  StageRun& now = runs_[run].stages[stage];
  if (now.state != StageState::blocked || now.called) return;
  const ControlStage& needs = control(run, stage);
  ++now.finished;
  now.skipped = static_cast<std::uint16_t>(now.skipped + (skipped ? 1 : 0));
  const std::uint32_t ran = now.finished - now.skipped;
  const bool all = now.finished == needs.predecessors;
  if (all && ran == 0) return stage_over(run, stage, StageState::skipped);
  // A skipped predecessor counts as finished for `join: all`; fewer wait for predecessors that really ran.
  const bool ready = needs.needed == needs.predecessors ? all : (ran >= needs.needed || all);
  if (ready) steps_.push_back({Step::Kind::begin, run, stage, runs_[run].generation});
}

bool Runs::condition_holds(Slot run, std::uint32_t stage) const {
  const ControlStage& tested = control(run, stage);
  if (!tested.stage->when) return true;
  const auto& stages = runs_[run].stages;
  const auto holds = [&](std::uint32_t s) { return stages[s].condition == StageRun::Condition::holds; };
  if (!is_otherwise(*tested.stage)) return holds(stage);
  return std::none_of(tested.alternatives.begin(), tested.alternatives.end(), holds);
}

// REQUIRES: its join is satisfied, its wait is over, or its handler was called.
void Runs::begin_stage(Slot run, std::uint32_t stage) {
  const ControlStage& begun = control(run, stage);
  StageRun& now = runs_[run].stages[stage];
  if (now.state == StageState::blocked) {
    if (!now.called && !condition_holds(run, stage)) return stage_over(run, stage, StageState::skipped);
    if (begun.stage->wait > Duration{}) {
      now.state = StageState::waiting;
      return runs_.set_timer(now_ + begun.stage->wait, {run, runs_[run].generation, stage, 0}, true);
    }
  } else if (now.state != StageState::waiting) {
    return;
  }
  if (begun.stage->kind == Stage::Kind::fail)
    return end_at(run, stage, RequestOutcome::failed, begun.stage->failure.error);
  now.state = StageState::queued;
  if (!begun.stage->foreach || !now.items_known) now.items = 1;
  if (now.items == 0) return stage_over(run, stage, StageState::done);
  if (begun.stage->kind == Stage::Kind::pass && begun.body == 0) {
    pass_on(run, stage);
    return stage_over(run, stage, StageState::done);
  }
  start_items(run, stage);
}

void Runs::start_items(Slot run, std::uint32_t stage) {
  const ControlStage& begun = control(run, stage);
  const auto& foreach = begun.stage->foreach;
  const std::uint32_t limit = foreach && foreach->limit > 0 ? foreach->limit : ~std::uint32_t{0};
  for (;;) {
    StageRun& now = runs_[run].stages[stage];  // start_run may move the runs
    if (now.items_started == now.items || now.items_started - now.items_done >= limit) return;
    const std::uint32_t item = now.items_started++;
    if (begun.body != 0)
      (void)start_run(runs_[run].request, begun.body, run, stage, item);
    else
      get_ready({run, runs_[run].generation, stage, item});
  }
}

// The first stages of a foreach body read their item of what a stage around them left.
const StageRun* Runs::item_source(Slot run, std::uint32_t stage) const {
  const Run& reader = runs_[run];
  if (!control(run, stage).stage->after.empty() || reader.parent == kNoSlot) return nullptr;
  const auto& foreach = control(reader.parent, reader.parent_stage).stage->foreach;
  if (!foreach || !foreach->over.stage.valid()) return nullptr;
  return &runs_[reader.parent].stages[foreach->over.stage.index()];
}

// A stage that runs nothing leaves what those before it left.
void Runs::pass_on(Slot run, std::uint32_t stage) {
  Outputs passed;
  for (const StageId before : control(run, stage).stage->after) passed.add(runs_[run].stages[before.index()].outputs);
  if (const StageRun* source = item_source(run, stage)) passed.add(source->outputs);
  runs_[run].stages[stage].outputs = std::move(passed);
}

// Its inputs are where most of what one predecessor left is.
void Runs::get_ready(const Place& place) {
  const Slot request = runs_[place.run].request;
  const Stage& stage = *control(place.run, place.stage).stage;
  Ready ready{.request = request, .place = place};
  bool lost = false;
  Bytes largest(-1);
  for (const StageId before : stage.after) {
    const Outputs& source = runs_[place.run].stages[before.index()].outputs;
    ready.bytes += source.bytes();
    lost = lost || source.lost();
    if (!source.at().valid() || source.most() <= largest) continue;
    largest = source.most();
    ready.inputs_at = source.at();
  }
  if (const StageRun* source = item_source(place.run, place.stage)) {
    ready.inputs_at = source->outputs.at();
    lost = lost || source->outputs.lost();
  }
  if (lost) return begin_again(request);
  const Application& application = *controls_[walks_[request].application.index()].application;
  if (const auto& bytes = application.function(stage.function).input_bytes) ready.bytes = *bytes;
  effects_.emplace_back(ready);
}

void Runs::item_done(Slot run, std::uint32_t stage) {
  StageRun& now = runs_[run].stages[stage];
  ++now.items_done;
  if (now.items_done == now.items)
    stage_over(run, stage, StageState::done);
  else
    start_items(run, stage);
}

void Runs::stage_over(Slot run, std::uint32_t stage, StageState state) {
  StageRun& now = runs_[run].stages[stage];
  CHECK(!now.over());
  now.state = state;
  const ControlStage& ended = control(run, stage);
  const std::uint32_t generation = runs_[run].generation;
  const auto kind = state == StageState::done ? Step::Kind::predecessor_over : Step::Kind::predecessor_skipped;
  for (const std::uint32_t next : ended.successors) steps_.push_back({kind, run, next, generation});
  if (state == StageState::skipped && runs_[run].parent == kNoSlot)
    effects_.emplace_back(Skipped{runs_[run].request, stage});
  // A handler that nobody called is skipped once all that could call it are over.
  for (const std::uint32_t handler : ended.handlers) {
    if (control(run, handler).stage->after.empty())
      steps_.push_back({Step::Kind::predecessor_skipped, run, handler, generation});
  }
  if (ended.exit && --runs_[run].open == 0) run_over(run);
}

void Runs::run_over(Slot run) {
  const Run& done = runs_[run];
  const Slot request = done.request, parent = done.parent;
  if (parent == kNoSlot) return end_request(request, RequestOutcome::finished, StageId::none(), "");
  const std::uint32_t stage = done.parent_stage;
  for (std::size_t s = 0; s < done.stages.size(); ++s) {
    if (workflow(done).stages[s].exit) runs_[parent].stages[stage].outputs.add(done.stages[s].outputs);
  }
  // A join may have gone on without its slowest predecessors; what is left of them is of no use any more.
  runs_.remove(run);
  effects_.emplace_back(Withdrawn{request});
  item_done(parent, stage);
}

void Runs::visit(Archive& archive) {
  runs_.visit_runs(archive);
  archive(walks_);
  runs_.visit_timers(archive);
  archive(retries_);
}

}  // namespace sluice::core
