#include "reproduce/esg_player.h"

#include <algorithm>

#include "base/text.h"
#include "sim/world.h"

namespace sluice::reproduce {
namespace {

// Two observers of one run and perhaps a third.
class Watchers final : public sim::Observer {
 public:
  explicit Watchers(std::vector<sim::Observer*> all) : all_(std::move(all)) { std::erase(all_, nullptr); }
  void request(const sim::RequestRow& row) override {
    for (sim::Observer* one : all_) one->request(row);
  }
  void action(const sim::ActionRow& row) override {
    for (sim::Observer* one : all_) one->action(row);
  }

 private:
  std::vector<sim::Observer*> all_;
};

// Whether presets made for one serve the other.
bool same_presets(const Experiment& a, const Experiment& b) {
  return a.slo_scale == b.slo_scale && a.prices == b.prices && a.applications == b.applications;
}

std::uint64_t work_of(const Trial& trial) {
  return trial.set_up->workload.requests + trial.set_up->workload.warmup;
}

// Positions of the trials to play together: `at_once` of `esg` each time, so that the next ones know what these found;
// all others, which learn nothing from each other, with the first.
std::vector<std::vector<std::size_t>> waves_of(const std::vector<Trial>& trials, std::size_t at_once) {
  std::vector<std::vector<std::size_t>> out(1);
  std::size_t esg = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::size_t wave = trials[i].scheduler == "esg" ? esg++ / at_once : 0;
    if (wave == out.size()) out.emplace_back();
    out[wave].push_back(i);
  }
  return out;
}

}  // namespace

Means plain_means() {
  return {.run = [](std::size_t count, const std::function<void(std::size_t)>& task) {
    for (std::size_t i = 0; i < count; ++i) task(i);
  }};
}

const Player::Presets* Player::presets_of(const Experiment& set_up) const {
  for (const Presets& presets : presets_) {
    if (same_presets(*presets.set_up, set_up)) return &presets;
  }
  return nullptr;
}

Status Player::prepare(const std::vector<Trial>& trials) {
  struct Search {
    Experiment set_up;  // with one application
    std::optional<Error> error;
    std::shared_ptr<const policy::AquatopePresets> made;
  };
  std::vector<Search> searches;
  const std::size_t first = presets_.size();
  for (const Trial& trial : trials) {
    if (trial.scheduler != "aquatope" || presets_of(*trial.set_up) != nullptr) continue;
    presets_.push_back({trial.set_up, nullptr});
    for (const Application& application : trial.set_up->applications) {
      Search& search = searches.emplace_back(Search{.set_up = *trial.set_up});
      search.set_up.applications = {application};
      search.set_up.parameters["aquatope"] = aquatope_;
    }
  }
  means_.run(searches.size(), [&](std::size_t i) {
    auto made = sim::prepare(searches[i].set_up, "aquatope");
    if (made) {
      searches[i].made = made->aquatope;
    } else {
      searches[i].error = made.error();
    }
  });
  for (std::size_t p = first, s = 0; p < presets_.size(); ++p) {
    auto all = std::make_shared<policy::AquatopePresets>();
    for (std::size_t a = 0; a < presets_[p].set_up->applications.size(); ++a, ++s) {
      if (searches[s].error) return *searches[s].error;
      all->insert(searches[s].made->begin(), searches[s].made->end());
    }
    presets_[p].made = std::move(all);
  }
  return Done{};
}

Result<Figures> Player::play_one(const Trial& trial, sim::Observer* observer,
                                 std::shared_ptr<policy::EsgAnswers> found) const {
  const Workload& workload = trial.set_up->workload;
  LatencyShares latencies(trial.set_up->applications.size(), workload.warmup, workload.requests);
  const std::unique_ptr<sim::Observer> log = means_.log ? means_.log(trial) : nullptr;
  Watchers watchers({&latencies, log.get(), observer});
  sim::WorldOptions options{
      .scheduler = trial.scheduler, .seed = trial.seed, .begins_empty = trial.begins_empty, .observer = &watchers};
  if (trial.scheduler == "aquatope") options.prepared.aquatope = presets_of(*trial.set_up)->made;
  options.prepared.esg = {.known = answers_, .found = std::move(found)};
  std::uint64_t seen = 0;
  options.progress = [&](std::uint64_t requests) {
    done(requests - seen);
    seen = requests;
  };
  auto world = sim::World::make(*trial.set_up, std::move(options),
                                trial.trace_text ? std::string_view(*trial.trace_text) : std::string_view());
  if (!world) return world.error();
  const sim::RunResult run = (*world)->run();
  done(work_of(trial) - std::min(seen, work_of(trial)));
  if (run.violation) {
    return Error{ErrorCode::internal,
                 str(trial.contender, " in ", trial.setting, ", seed ", trial.seed, ": ", run.violation->invariant)};
  }
  return figures_of(run, latencies);
}

Result<std::vector<Figures>> Player::play(const std::vector<Trial>& trials) {
  return play(trials, std::vector<sim::Observer*>(trials.size()));
}

Result<std::vector<Figures>> Player::play(const std::vector<Trial>& trials,
                                          const std::vector<sim::Observer*>& observers) {
  if (const Status prepared = prepare(trials); !prepared) return prepared.error();
  std::vector<std::optional<Result<Figures>>> results(trials.size());
  for (const std::vector<std::size_t>& wave : waves_of(trials, means_.at_once)) {
    std::vector<std::shared_ptr<policy::EsgAnswers>> found(wave.size());
    for (auto& own : found) own = std::make_shared<policy::EsgAnswers>();
    means_.run(wave.size(), [&](std::size_t w) {
      const std::size_t i = wave[w];
      results[i] = play_one(trials[i], observers[i], found[w]);
    });
    for (const auto& own : found) answers_->add(*own);
  }
  std::vector<Figures> out;
  for (auto& result : results) {
    if (!*result) return result->error();
    out.push_back(std::move(*result).value());
  }
  return out;
}

}  // namespace sluice::reproduce
