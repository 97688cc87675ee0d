#include "core/branches.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "domain/alternatives.h"

namespace sluice::core {
namespace {

constexpr double kShareTolerance = 0.1;  // of the requests
constexpr std::uint64_t kEvery = 16;     // samples are believed

// What is told comes from elsewhere: nothing if there is no such run.
const Workflow* find_workflow(const Application& application, const RunPath& path) {
  const Workflow* workflow = &application.workflow;
  for (const ItemOf& item : path) {
    if (item.stage.index() >= workflow->size()) return nullptr;
    const auto& foreach = workflow->at(item.stage).foreach;
    if (!foreach || foreach->body.empty()) return nullptr;
    workflow = &foreach->body.front();
  }
  return workflow;
}

// Of all stages, those inside of a foreach as models name them.
void add_names(const Workflow& workflow, const std::string& prefix, std::set<std::string>& out) {
  for (const Stage& stage : workflow.stages) {
    out.insert(prefix + stage.name);
    if (!stage.foreach) continue;
    for (const Workflow& body : stage.foreach->body) add_names(body, str(prefix, stage.name, "/"), out);
  }
}

}  // namespace

void Branches::Mean::assume(double known) {
  seen = kEvery;
  value = believed = known;
  is_believed = true;
}

void Branches::assume(const Application& application, const BranchesKnown& known) {
  std::set<std::string> names;
  add_names(application.workflow, "", names);
  for (const auto& [stage, share] : known.shares) {
    if (names.contains(stage)) shares_[stage].assume(share);
  }
  for (const auto& [stage, items] : known.items) {
    if (names.contains(stage)) items_[stage].assume(items);
  }
}

bool Branches::Mean::add(double sample, double tolerance) {
  constexpr std::uint64_t kMemory = 64;
  ++seen;
  value += (sample - value) / static_cast<double>(std::min(seen, kMemory));
  if (seen % kEvery != 0) return false;
  if (is_believed && std::abs(value - believed) <= tolerance) return false;
  believed = value;
  return is_believed = true;
}

bool Branches::note(const Application& application, std::span<const Verdict> verdicts,
                    std::span<const FanOut> fan_outs) {
  constexpr std::size_t kSamples = 64;  // of one message: thousands of items teach no more
  verdicts = verdicts.first(std::min(verdicts.size(), kSamples));
  fan_outs = fan_outs.first(std::min(fan_outs.size(), kSamples));
  bool changed = false;
  for (const Verdict& verdict : verdicts) {
    const Workflow* workflow = find_workflow(application, verdict.path);
    if (workflow == nullptr || verdict.stage.index() >= workflow->size()) continue;
    if (is_otherwise(workflow->at(verdict.stage))) continue;
    Mean& mean = shares_[stage_name(application, verdict.path, verdict.stage)];
    changed = mean.add(verdict.holds ? 1 : 0, kShareTolerance) || changed;
  }
  // Those of one run follow one another.
  for (auto first = verdicts.begin(); first != verdicts.end();) {
    const auto last = std::find_if(first, verdicts.end(), [&](const Verdict& v) { return v.path != first->path; });
    changed = note_otherwise(application, {first, last}) || changed;
    first = last;
  }
  for (const FanOut& fan_out : fan_outs) {
    const Workflow* workflow = find_workflow(application, fan_out.path);
    if (workflow == nullptr || fan_out.stage.index() >= workflow->size()) continue;
    Mean& mean = items_[stage_name(application, fan_out.path, fan_out.stage)];
    changed = mean.add(fan_out.items, std::max(1.0, mean.believed / 4)) || changed;
  }
  return changed;
}

// `verdicts` of one run.
bool Branches::note_otherwise(const Application& application, std::span<const Verdict> verdicts) {
  const RunPath& path = verdicts.front().path;
  const Workflow* workflow = find_workflow(application, path);
  if (workflow == nullptr) return false;
  bool changed = false;
  for (std::uint32_t s = 0; s < workflow->size(); ++s) {
    const Stage& stage = workflow->stages[s];
    if (!is_otherwise(stage)) continue;
    bool known = true, none = true;
    for (const StageId alternative : alternatives_of(*workflow, stage)) {
      const auto told = std::find_if(verdicts.begin(), verdicts.end(),
                                     [&](const Verdict& verdict) { return verdict.stage == alternative; });
      known = known && told != verdicts.end();
      none = none && known && !told->holds;
    }
    if (known)
      changed = shares_[stage_name(application, path, StageId(s))].add(none ? 1 : 0, kShareTolerance) || changed;
  }
  return changed;
}

plan::ModelAssumptions Branches::assumptions() const {
  plan::ModelAssumptions out;
  for (const auto& [name, mean] : shares_) {
    if (mean.is_believed) out.shares[name] = mean.believed;
  }
  for (const auto& [name, mean] : items_) {
    if (mean.is_believed) out.items[name] = static_cast<std::uint32_t>(std::lround(std::max(1.0, mean.believed)));
  }
  return out;
}

}  // namespace sluice::core
