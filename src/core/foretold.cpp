// What invokers know of conditions and fan-outs, and the run it is about.
#include <algorithm>

#include "core/runs.h"

namespace sluice::core {
namespace {

void set(StageRun& at, const Verdict& verdict) {
  at.condition = verdict.holds ? StageRun::Condition::holds : StageRun::Condition::fails;
}

void set(StageRun& at, const FanOut& fan_out) {
  if (at.state != StageState::blocked) return;
  at.items = fan_out.items;
  at.items_known = true;
}

}  // namespace

void Runs::note(Slot run, const std::vector<Verdict>& verdicts, const std::vector<FanOut>& fan_outs) {
  for (const Verdict& verdict : verdicts) note(run, verdict, &Foretold::verdicts);
  for (const FanOut& fan_out : fan_outs) note(run, fan_out, &Foretold::fan_outs);
}

// The innermost of `run` and those around it that the path leads through is the run itself, or the one in which a
// foreach will start it.
template <class Fact>
void Runs::note(Slot run, const Fact& fact, std::vector<Fact> Foretold::*list) {
  const RunPath here = runs_.path_of(run);
  const auto common = std::mismatch(here.begin(), here.end(), fact.path.begin(), fact.path.end()).second;
  const auto depth = static_cast<std::size_t>(common - fact.path.begin());
  for (std::size_t at = here.size(); at > depth; --at) run = runs_[run].parent;
  const bool itself = depth == fact.path.size();
  const StageId stage = itself ? fact.stage : common->stage;
  if (stage.index() >= runs_[run].stages.size()) return;
  StageRun& at = runs_[run].stages[stage.index()];
  if (itself) return set(at, fact);
  if (at.state != StageState::blocked) return;  // its runs have begun: this is of an earlier attempt
  auto& known = walks_[runs_[run].request].foretold[fact.path].*list;
  const auto before = std::find_if(known.begin(), known.end(), [&](const Fact& f) { return f.stage == fact.stage; });
  if (before != known.end())
    *before = fact;
  else
    known.push_back(fact);
}

}  // namespace sluice::core
