#include "reproduce/esg_twins.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::reproduce {
namespace {

unsigned rounds_of(Tuning tuning) {
  return tuning == Tuning::whole ? 3 : 1;
}

std::uint64_t played(const Experiment& set_up) {
  return set_up.workload.requests + set_up.workload.warmup;
}

// One search with what it asks for at the moment.
struct Running {
  const TwinSearch* search = nullptr;
  TuningSearch tuning;
  std::size_t asks = 0;
  std::uint64_t work = 0;  // done
};

void add_trials(Running& running, std::vector<Trial>& out) {
  const std::vector<EsgTuning> wanted = running.tuning.next();
  running.asks = wanted.size();
  for (const EsgTuning& tuning : wanted) {
    Trial trial = running.search->trial({"esg-tuned", "esg", tuning.parameters()});
    trial.experiment = "tuning";
    for (const auto& [name, value] : tuning.parameters())
      trial.experiment += str(trial.experiment == "tuning" ? "/" : ",", name, "=", value);
    running.work += played(*trial.set_up);
    out.push_back(std::move(trial));
  }
}

}  // namespace

Experiment for_tuning(Experiment set_up, Tuning tuning) {
  const bool whole = tuning == Tuning::whole;
  set_up.workload.requests = std::min<std::uint64_t>(set_up.workload.requests, whole ? 8'000 : 2'000);
  set_up.workload.warmup = std::min<std::uint64_t>(set_up.workload.warmup, whole ? 2'000 : 1'000);
  return set_up;
}

std::uint64_t work_of(Tuning tuning, const Experiment& set_up) {
  if (tuning == Tuning::none) return 0;
  return TuningSearch::expected(rounds_of(tuning)) * played(for_tuning(set_up, tuning));
}

Result<std::vector<std::optional<EsgTwins>>> find_twins(Player& player, const std::vector<TwinSearch>& searches) {
  std::vector<Running> all;
  for (const TwinSearch& search : searches) all.push_back({&search, TuningSearch(rounds_of(search.tuning))});
  for (;;) {
    std::vector<Trial> trials;
    for (Running& running : all) {
      if (running.search->tuning != Tuning::none) add_trials(running, trials);
    }
    if (trials.empty()) break;
    const auto figures = player.play(trials);
    if (!figures) return figures.error();
    std::size_t first = 0;
    for (Running& running : all) {
      if (running.asks == 0) continue;
      running.tuning.tell(std::span(*figures).subspan(first, running.asks));
      first += running.asks;
    }
  }
  std::vector<std::optional<EsgTwins>> out;
  for (const Running& running : all) {
    out.emplace_back();
    if (running.search->tuning == Tuning::none) continue;
    out.back() = running.tuning.best();
    const Trial any = running.search->trial({"esg-tuned", "esg", {}});
    player.settle(work_of(running.search->tuning, *any.set_up), running.work);
  }
  return out;
}

void make_twins(std::vector<Contender>& contenders, const EsgTwins& twins) {
  for (Contender& c : contenders) {
    if (c.name == "esg-tuned") c.parameters = twins.tuned.parameters();
    if (c.name == "esg-thrifty") c.parameters = twins.thrifty.parameters();
  }
}

}  // namespace sluice::reproduce
