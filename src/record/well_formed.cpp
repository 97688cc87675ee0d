#include "record/well_formed.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "domain/limits.h"

namespace sluice::record {
namespace {

bool allowed(Duration d) {
  return d >= Duration{} && d <= limits::duration_max;
}
bool allowed(double dollars) {
  return std::isfinite(dollars) && dollars >= 0;
}

bool allowed(const Comparison& comparison) {
  if (comparison.comparator == Comparator::present) return std::holds_alternative<bool>(comparison.right);
  if (comparison.comparator == Comparator::matches) return std::holds_alternative<std::string>(comparison.right);
  return true;
}

bool allowed(const Retry& retry) {
  return allowed(retry.interval) && std::isfinite(retry.backoff) && retry.backoff >= 1 &&
         allowed(retry.max_delay.value_or(Duration{})) && std::int64_t{retry.attempts} <= limits::retry_attempts_max;
}

// One workflow: the main one or the body of a foreach.
class WorkflowShape {
 public:
  WorkflowShape(const Application& application, const Workflow& workflow, std::size_t depth)
      : application_(application), workflow_(workflow), depth_(depth) {}

  [[nodiscard]] bool good() const {
    return workflow_.size() <= limits::stages_max && depth_ <= limits::foreach_depth_max &&
           std::all_of(workflow_.stages.begin(), workflow_.stages.end(), [&](const Stage& s) { return good(s); });
  }
  [[nodiscard]] bool good(const Reference& reference) const {
    return !reference.stage.valid() || is_stage(reference.stage);
  }

 private:
  [[nodiscard]] bool is_stage(StageId id) const { return id.index() < workflow_.size(); }

  [[nodiscard]] bool good(const Stage& stage) const {
    const std::set<StageId> after(stage.after.begin(), stage.after.end());
    const auto is_there = [&](StageId id) { return is_stage(id); };
    return after.size() == stage.after.size() && std::all_of(after.begin(), after.end(), is_there) &&
           (stage.kind != Stage::Kind::run || stage.function.index() < application_.functions.size()) &&
           std::all_of(stage.catches.begin(), stage.catches.end(),
                       [&](const Catch& c) { return is_stage(c.handler); }) &&
           std::all_of(stage.inputs.begin(), stage.inputs.end(), [&](const InputBinding& b) { return good(b.from); }) &&
           (!stage.when || good(*stage.when)) && (!stage.foreach || good(*stage.foreach)) &&
           (!stage.retry || allowed(*stage.retry)) && allowed(stage.wait);
  }
  [[nodiscard]] bool good(const Condition& condition) const {
    const std::size_t terms = condition.terms.size();
    switch (condition.kind) {
      case Condition::Kind::compare:
        return terms == 0 && good(condition.comparison.left) && allowed(condition.comparison);
      case Condition::Kind::otherwise:
        return terms == 0;
      case Condition::Kind::negate:
        if (terms != 1) return false;
        break;
      case Condition::Kind::all:
      case Condition::Kind::any:
        if (terms == 0) return false;
        break;
    }
    return std::all_of(condition.terms.begin(), condition.terms.end(), [&](const Condition& c) { return good(c); });
  }
  [[nodiscard]] bool good(const Foreach& foreach) const {
    if (!good(foreach.over) || foreach.body.size() > 1) return false;
    return foreach.body.empty() || WorkflowShape(application_, foreach.body.front(), depth_ + 1).good();
  }

  const Application& application_;
  const Workflow& workflow_;
  std::size_t depth_;
};

}  // namespace

bool well_formed(const Application& application) {
  const WorkflowShape shape(application, application.workflow, 0);
  const auto loads = [](const Function& f) {
    return (f.cpu || f.gpu) && allowed(f.cold_start.process) && allowed(f.cold_start.host) &&
           allowed(f.cold_start.device);
  };
  return application.functions.size() <= limits::functions_max &&
         std::all_of(application.functions.begin(), application.functions.end(), loads) && shape.good() &&
         std::all_of(application.outputs.begin(), application.outputs.end(),
                     [&](const OutputBinding& o) { return shape.good(o.from); }) &&
         allowed(application.objective.latency) && allowed(application.prices.vcpu_hour) &&
         allowed(application.prices.vgpu_hour);
}

}  // namespace sluice::record
