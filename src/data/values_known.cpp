// What the data say of conditions and fan-outs.
#include <algorithm>

#include "base/text.h"
#include "data/values.h"
#include "domain/alternatives.h"
#include "domain/limits.h"
#include "domain/wiring.h"

namespace sluice::data {
namespace {

bool asks(const Workflow& workflow) {
  return std::any_of(workflow.stages.begin(), workflow.stages.end(),
                     [](const Stage& stage) { return stage.when || stage.foreach; });
}

// Pass stages hand on what finished before them; so may a workflow inside of a foreach, if it has nothing to run.
bool depends(const Application& application, const Workflow& workflow, const Reference& from, StageId finished,
             std::vector<bool>& seen) {
  if (from.stage == finished) return true;
  if (!from.stage.valid() || seen[from.stage.index()]) return false;
  seen[from.stage.index()] = true;
  const Stage& stage = workflow.at(from.stage);
  if (stage.kind != Stage::Kind::pass) return false;
  if (stage.foreach && depends(application, workflow, stage.foreach->over, finished, seen)) return true;
  const auto wired = wiring(application, workflow, from.stage);
  return std::any_of(wired.begin(), wired.end(), [&](const InputBinding& binding) {
    return depends(application, workflow, binding.from, finished, seen);
  });
}

bool depends(const Application& application, const Workflow& workflow, const Condition& condition, StageId finished) {
  std::vector<bool> seen(workflow.size());
  if (condition.kind == Condition::Kind::compare)
    return depends(application, workflow, condition.comparison.left, finished, seen);
  return std::any_of(condition.terms.begin(), condition.terms.end(),
                     [&](const Condition& term) { return depends(application, workflow, term, finished); });
}

}  // namespace

bool passes(const Stage& stage) {
  return stage.kind == Stage::Kind::pass && (!stage.foreach || stage.foreach->body.empty());
}

bool Values::reached(StageId id) const {
  if (called(id)) return true;
  const Stage& stage = workflow_.at(id);
  const auto handles = [&](const Stage& other) {
    return std::any_of(other.catches.begin(), other.catches.end(), [&](const Catch& c) { return c.handler == id; });
  };
  if (stage.after.empty() && std::any_of(workflow_.stages.begin(), workflow_.stages.end(), handles)) return false;
  const bool ran = stage.after.empty() || std::any_of(stage.after.begin(), stage.after.end(),
                                                      [&](StageId before) { return left_something(before); });
  if (!ran || !stage.when) return ran;
  if (!is_otherwise(stage)) return holds(*stage.when);
  const std::vector<StageId> alternatives = alternatives_of(workflow_, stage);
  return std::none_of(alternatives.begin(), alternatives.end(),
                      [&](StageId other) { return holds(*workflow_.at(other).when); });
}

bool Values::called(StageId handler) const {
  for (std::uint32_t s = 0; s < workflow_.size(); ++s) {
    const auto& catches = workflow_.stages[s].catches;
    const bool calls =
        std::any_of(catches.begin(), catches.end(), [&](const Catch& c) { return c.handler == handler; });
    if (calls && reached(StageId(s)) && !left_something(StageId(s))) return true;
  }
  return false;
}

bool Values::left_something(StageId stage) const {
  return passes(workflow_.at(stage)) ? reached(stage) : left_by(stage) != nullptr;
}

Result<Known> Values::known_after(StageId finished) const {
  Known out;
  const Values* run = this;
  for (;;) {
    if (const Status added = run->add_known(finished, out); !added) return added.error();
    if (run->around_ == nullptr) return out;
    finished = run->run_.path.back().stage;
    run = run->around_.get();
  }
}

Status Values::add_known(StageId finished, Known& out) const {
  for (std::uint32_t s = 0; s < workflow_.size(); ++s) {
    const Stage& stage = workflow_.stages[s];
    if (stage.when && depends(application_, workflow_, *stage.when, finished) && all_there(*stage.when)) {
      out.verdicts.push_back({StageId(s), holds(*stage.when), run_.path});
    }
    std::vector<bool> seen(stage.foreach ? workflow_.size() : 0);
    if (!stage.foreach || !depends(application_, workflow_, stage.foreach->over, finished, seen)) continue;
    if (const Status added = add_fan_out(StageId(s), out); !added) return added;
  }
  return Done{};
}

Status Values::add_fan_out(StageId id, Known& out) const {
  const Stage& stage = workflow_.at(id);
  const auto items = rows_of(stage.foreach->over);
  if (!items) return Done{};
  out.items += *items;
  if (out.items > static_cast<std::uint64_t>(limits::foreach_items_max)) {
    return Error{ErrorCode::too_large, str("TooManyItems: ", describe(stage.foreach->over, workflow_), " has ", *items,
                                           " items for stage '", stage.name, "'; at most ", limits::foreach_items_max,
                                           " are allowed, all that become known at once taken together")};
  }
  out.fan_outs.push_back({id, static_cast<std::uint32_t>(*items), run_.path});
  if (stage.foreach->body.empty() || !asks(stage.foreach->body.front())) return Done{};
  for (std::uint32_t i = 0; i < *items; ++i) {
    if (const Status added = inside(id, i).add_known(StageId::none(), out); !added) return added;
  }
  return Done{};
}
// What was skipped never comes: then nobody says, and the condition does not hold.
bool Values::all_there(const Condition& condition) const {
  Tensors all;
  const std::string any(kEverything);
  if (condition.kind == Condition::Kind::compare) return collect({condition.comparison.left.stage, any}, any, all);
  return std::all_of(condition.terms.begin(), condition.terms.end(), [&](const Condition& c) { return all_there(c); });
}

// `otherwise` says nothing by itself: see reached().
bool Values::holds(const Condition& condition) const {
  const auto term_holds = [&](const Condition& term) { return holds(term); };
  switch (condition.kind) {
    case Condition::Kind::compare: {
      const auto tensor = value(condition.comparison.left);
      if (condition.comparison.comparator == Comparator::present) {
        return tensor.has_value() == std::get<bool>(condition.comparison.right);
      }
      return tensor && satisfies(*tensor, condition.comparison);
    }
    case Condition::Kind::all:
      return std::all_of(condition.terms.begin(), condition.terms.end(), term_holds);
    case Condition::Kind::any:
      return std::any_of(condition.terms.begin(), condition.terms.end(), term_holds);
    case Condition::Kind::negate:
      return !holds(condition.terms.front());
    case Condition::Kind::otherwise:
      return false;
  }
  return false;
}

}  // namespace sluice::data
