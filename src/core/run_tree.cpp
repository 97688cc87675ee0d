#include "core/run_tree.h"

#include <algorithm>

namespace sluice::core {

RunPath RunTree::path_of(Slot run) const {
  RunPath out;
  for (; runs_[run].parent != kNoSlot; run = runs_[run].parent) {
    out.push_back({StageId(runs_[run].parent_stage), runs_[run].item});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

StageId RunTree::outermost_stage(const Place& place) const {
  std::uint32_t stage = place.stage;
  for (Slot run = place.run; runs_[run].parent != kNoSlot; run = runs_[run].parent) stage = runs_[run].parent_stage;
  return StageId(stage);
}

Slot RunTree::add(Slot request, Slot parent, std::uint32_t parent_stage, std::uint32_t item) {
  const Slot slot = runs_.take();
  Run& run = runs_[slot];
  ++run.generation;
  run.number = next_run_++;
  run.request = request;
  run.parent = parent;
  run.parent_stage = parent_stage;
  run.item = item;
  run.first_child = run.previous = run.next = kNoSlot;
  if (parent != kNoSlot) {
    run.next = runs_[parent].first_child;
    if (run.next != kNoSlot) runs_[run.next].previous = slot;
    runs_[parent].first_child = slot;
  }
  return slot;
}

void RunTree::remove(Slot run) {
  unlink(run);
  free(run);
}

void RunTree::remove_inside(Slot run, std::uint32_t stage) {
  for (Slot child = runs_[run].first_child; child != kNoSlot;) {
    const Slot next = runs_[child].next;
    if (runs_[child].parent_stage == stage) remove(child);
    child = next;
  }
}

// Out of its parent's list.
void RunTree::unlink(Slot slot) {
  const Run& run = runs_[slot];
  if (run.previous != kNoSlot) runs_[run.previous].next = run.next;
  if (run.next != kNoSlot) runs_[run.next].previous = run.previous;
  if (run.parent != kNoSlot && runs_[run.parent].first_child == slot) runs_[run.parent].first_child = run.next;
}

void RunTree::free(Slot run) {
  for (Slot child = runs_[run].first_child; child != kNoSlot;) {
    const Slot next = runs_[child].next;
    free(child);
    child = next;
  }
  runs_[run].timers.for_each([&](std::uint64_t order, Time at) { timers_.erase({.at = at, .order = order}); });
  runs_[run].timers.clear();
  runs_.give_back(run);
}

void RunTree::set_timer(Time at, const Place& place, bool begins) {
  runs_[place.run].timers.add(next_timer_, at);
  timers_.insert({.at = at, .place = place, .order = next_timer_++, .begins = begins});
}

std::optional<Time> RunTree::next_timer() const {
  return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->at);
}

std::optional<Timer> RunTree::take_due(Time now) {
  if (timers_.empty() || timers_.begin()->at > now) return std::nullopt;
  const Timer timer = *timers_.begin();
  timers_.erase(timers_.begin());
  runs_[timer.place.run].timers.remove(timer.order);
  return timer;
}

void RunTree::visit_timers(Archive& archive) {
  std::vector<Timer> timers(timers_.begin(), timers_.end());
  archive(timers, next_run_, next_timer_);
  if (archive.is_loading()) timers_ = {timers.begin(), timers.end()};
}

}  // namespace sluice::core
