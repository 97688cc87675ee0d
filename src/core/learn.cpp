// What executions teach about profiles, and requests about branches. A function's own profile stays as it was given;
// what planners believe is that profile corrected, and changes only when it is off by more than the learner's
// tolerance, and by enough to matter.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "core/applications.h"

namespace sluice::core {
namespace {

// The profile as it was given, corrected: a table with a row for every configuration.
ProfileTable corrected(const profile::FunctionProfile& given, const profile::Learner& learner) {
  ProfileTable out;
  for (const Configuration& configuration : given.configurations()) {
    const profile::Latency alone = learner.corrected(configuration, given.latency(configuration));
    const profile::Latency busy = learner.corrected(configuration, given.latency(configuration, true));
    out.rows.push_back({.configuration = configuration, .mean_ms = alone.mean_ms, .sd_ms = alone.sd_ms});
    if (busy.mean_ms != alone.mean_ms) out.rows.back().busy_mean_ms = busy.mean_ms;
  }
  return out;
}

// What planners believe of a function.
struct Known {
  const profile::Learner& learner;
  const profile::Neighbours& neighbours;
  [[nodiscard]] profile::Latency of(const Configuration& c, const profile::FunctionProfile& given) const {
    return learner.corrected(c, given.beside(c, neighbours.share(c.slices)));
  }
};

// Less than it takes to hand a batch to a worker decides nothing. Functions of microseconds differ from their profiles
// by any factor all the time.
bool matters(const profile::FunctionProfile& given, const Known& before, const Known& now) {
  constexpr double kLeastMs = 0.02;
  return std::ranges::any_of(given.configurations(), [&](const Configuration& c) {
    const profile::Latency was = before.of(c, given), is = now.of(c, given);
    return std::abs(is.mean_ms - was.mean_ms) > kLeastMs || std::abs(is.sd_ms - was.sd_ms) > kLeastMs;
  });
}

}  // namespace

void Applications::learn(const Execution& execution) {
  Learned& learned = learned_[execution.function.index()];
  if (!learned.profile.has_value()) return;
  Configuration ran = execution.configuration;
  ran.batch = execution.members;
  const profile::Latency planned = learned.profile->beside(ran, execution.neighbours);
  if (planned.mean_ms <= 0) return;
  if (ran.slices > 0) learned.neighbours.observe(ran.slices, execution.neighbours);
  const double measured_ms = execution.execution.to_ms();
  const profile::Latency expected = learned.learner.corrected(ran, planned);
  learned.tail.observe(expected.mean_ms, expected.sd_ms / expected.mean_ms, measured_ms);
  learned.learner.observe(ran, planned.mean_ms, measured_ms);
  queues_[execution.queue].pace.ran(slower(learned, execution), execution.beside.to_ms());
  // The first executions teach the most. Later, noise alone brings a window past the tolerance now and then, and making
  // tables again costs more than being a few executions late.
  constexpr std::uint64_t kFirst = 64, kEvery = 64;
  if (++learned.executions > kFirst && learned.executions % kEvery != 0) return;
  const bool straggles = learned.tail.changed_since(learned.stragglers);
  if (!straggles && !learned.learner.changed_since(learned.published, ran, planned) &&
      !other_neighbours(learned, ran)) {
    return;
  }
  const Known before{learned.published, learned.published_neighbours}, now{learned.learner, learned.neighbours};
  if (straggles || matters(*learned.profile, before, now)) publish(execution.function);
}

bool Applications::other_neighbours(const Learned& learned, const Configuration& ran) {
  const double now = learned.profile->beside(ran, learned.neighbours.share(ran.slices)).mean_ms;
  const double published = learned.profile->beside(ran, learned.published_neighbours.share(ran.slices)).mean_ms;
  return std::abs(now - published) > profile::Learner::kTolerance * published;
}

double Applications::slower(const Learned& learned, const Execution& ran) const {
  const policy::Queue& queue = queues_[ran.queue];
  const plan::Candidate* believed = plan::find(queue.model->stages[queue.model_stage].candidates, ran.configuration);
  if (believed == nullptr || believed->ms <= 0) return 1;
  Configuration as_run = ran.configuration;
  as_run.batch = ran.members;
  const double part = learned.profile->latency(as_run).mean_ms / learned.profile->latency(ran.configuration).mean_ms;
  return ran.execution.to_ms() / (believed->ms * part);
}

void Applications::publish(policy::SharedFunctionId function) {
  Learned& learned = learned_[function.index()];
  const ProfileTable now = corrected(*learned.profile, learned.learner);
  learned.published = learned.learner;
  learned.published_neighbours = learned.neighbours;
  learned.stragglers = learned.tail.stragglers();
  for (std::size_t a = 0; a < controls_.size(); ++a) {
    const auto& shared = controls_[a].shared;
    if (controls_[a].retired || std::find(shared.begin(), shared.end(), function) == shared.end()) continue;
    const ApplicationId id = models_[a].id;
    auto changed = std::make_shared<Application>(*application_of(id, beliefs_[a].newest()));
    for (std::size_t f = 0; f < shared.size(); ++f) {
      if (shared[f] == function) changed->functions[f].profile = now;
    }
    revise(id, std::move(changed));
  }
}

void Applications::learn(ApplicationId id, std::span<const Verdict> verdicts, std::span<const FanOut> fan_outs) {
  if (verdicts.empty() && fan_outs.empty()) return;
  if (id.index() >= models_.size() || is_retired(id)) return;
  if (!branches_[id.index()].note(*controls_[id.index()].application, verdicts, fan_outs)) return;
  revise(id, beliefs_[id.index()].newest().application);
}

void Applications::learn(const BranchesKnown& event) {
  const ApplicationId id = event.application;
  if (id.index() >= models_.size() || is_retired(id)) return;
  branches_[id.index()].assume(*controls_[id.index()].application, event);
  revise(id, beliefs_[id.index()].newest().application);
}

BranchesKnown Applications::known_branches(ApplicationId id) const {
  const plan::ModelAssumptions known = branches_[id.index()].assumptions();
  return {id, known.shares, {known.items.begin(), known.items.end()}};
}

void Applications::visit_learned(Archive& archive) {
  for (Learned& learned : learned_) {
    archive(learned.replaced, learned.executions, learned.tail, learned.stragglers, learned.neighbours,
            learned.published_neighbours);
    if (archive.is_loading() && learned.replaced) {
      auto profile = profile::FunctionProfile::make(*learned.replaced);
      if (profile.ok()) learned.profile = std::move(profile).value();
    }
    for (profile::Learner* learner : {&learned.learner, &learned.published}) {
      profile::Learner::State state = learner->state();
      archive(state);
      if (archive.is_loading()) *learner = profile::Learner(state);
    }
  }
}

}  // namespace sluice::core
