#include "plan/rivals/orion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "plan/rivals/stage_paths.h"

namespace sluice::plan {
namespace {

constexpr std::size_t kPathsMax = 16;
// What is remembered at most: bounds memory for workflows of many stages.
constexpr std::size_t kStatesMax = 1 << 18, kChosenMax = 1 << 24;
constexpr std::uint64_t kFree = ~std::uint64_t{0};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

OrionSearch::OrionSearch(const WorkflowModel& model, const OrionOptions& options) : options_(options) {
  CHECK(!model.stages.empty() && options.states_max >= 1);
  for (const ModelStage& stage : model.stages) add_stage(stage);
  number_keys();
  find_paths(model);
}

void OrionSearch::add_stage(const ModelStage& stage) {
  std::vector<Choice> choices;
  for (const Candidate& c : stage.candidates) {
    const StageTerms terms = stage.scale.of(c.ms, c.cost);
    choices.push_back({.ms = terms.ms, .cost = terms.cost, .batch = c.configuration.batch});
  }
  find_steps(stage.candidates, choices);
  least_.push_back(static_cast<std::uint32_t>(&least(stage.candidates) - stage.candidates.data()));
  stages_.push_back(std::move(choices));
}

// One step up by a knob: the next larger value of it among candidates that are equal in all others.
void OrionSearch::find_steps(const Candidates& candidates, std::vector<Choice>& choices) {
  std::vector<std::uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto link = [&](std::size_t knob, const auto& others, const auto& value) {
    const auto key = [&](std::uint32_t i) {
      const Configuration& c = candidates[i].configuration;
      return std::tuple(others(c), value(c), c, i);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::uint32_t next = kNone;  // the first of the next larger value
    for (std::size_t i = order.size(); i-- > 1;) {
      const Configuration &above = candidates[order[i]].configuration, &c = candidates[order[i - 1]].configuration;
      const bool same_line = others(above) == others(c);
      if (!same_line)
        next = kNone;
      else if (value(above) != value(c))
        next = order[i];
      choices[order[i - 1]].up[knob] = next;
    }
  };
  link(
      0, [](const Configuration& c) { return std::tuple(c.vcpu, c.slices, c.device); },
      [](const Configuration& c) { return c.batch; });
  link(
      1, [](const Configuration& c) { return std::tuple(c.batch, c.slices, c.device); },
      [](const Configuration& c) { return c.vcpu; });
  // Slices tell the CPU from a GPU, so the device is no knob of its own.
  link(
      2, [](const Configuration& c) { return std::tuple(c.batch, c.vcpu); },
      [](const Configuration& c) { return c.slices; });
}

// A key is the sum of the stages' digits: their positions packed into 64 bits where they fit, else random numbers, of
// which two sums are equal by chance about once in 10^9 searches; then a state is left out.
void OrionSearch::number_keys() {
  int bits = 0;
  for (const auto& choices : stages_) bits += static_cast<int>(std::bit_width(choices.size()));
  int shift = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    for (std::size_t i = 0; i < stages_[s].size(); ++i)
      stages_[s][i].digit = bits < 64 ? static_cast<std::uint64_t>(i) << shift : mix((s << 32) + i + 1);
    if (bits < 64) shift += static_cast<int>(std::bit_width(stages_[s].size()));
  }
}

void OrionSearch::find_paths(const WorkflowModel& model) {
  auto paths = stage_paths(model.tree, kPathsMax);
  if (!paths) {
    paths.emplace(1);
    for (std::uint32_t s = 0; s < stages_.size(); ++s) paths->front().push_back(s);
  }
  paths_ = paths->size();
  on_path_.assign(stages_.size() * paths_, 0);
  waits_.assign(paths_, 0);
  for (std::size_t p = 0; p < paths_; ++p) {
    for (const std::uint32_t s : (*paths)[p]) {
      on_path_[s * paths_ + p] = 1;
      waits_[p] += model.stages[s].wait_ms;
    }
  }
}

class OrionSearch::Run {
 public:
  Run(const OrionSearch& search, double budget_ms, BatchCap cap, OrionWorkspace& workspace)
      : search_(search),
        budget_ms_(budget_ms),
        cap_(cap),
        states_max_(std::min(kStatesMax, kChosenMax / search.stages_.size())),
        w_(workspace) {
    w_.states.clear();
    w_.chosen.clear();
    w_.means.clear();
    w_.squares.clear();
    w_.open.clear();
    w_.seen.assign(1 << 10, kFree);
  }

  OrionPlan run() {
    add_least();
    std::uint32_t best = kNone;
    std::uint64_t taken = 0;
    while (!w_.open.empty() && taken < search_.options_.states_max) {
      std::pop_heap(w_.open.begin(), w_.open.end(), std::greater<>());
      const std::uint32_t at = w_.open.back().second;
      w_.open.pop_back();
      ++taken;
      const OrionWorkspace::State& state = w_.states[at];
      if (state.p95_ms <= budget_ms_ && (best == kNone || state.cost < w_.states[best].cost)) {
        best = at;
        if (search_.options_.stop_first) break;
      }
      step_up(at);
    }
    const bool feasible = best != kNone;
    const std::uint32_t answer = feasible ? best : fastest_;
    const OrionWorkspace::State& state = w_.states[answer];
    const auto chosen = w_.chosen.begin() + static_cast<std::ptrdiff_t>(answer * search_.stages_.size());
    return {{chosen, chosen + static_cast<std::ptrdiff_t>(search_.stages_.size())},
            state.p95_ms,
            state.cost,
            taken,
            feasible};
  }

 private:
  void add_least() {
    OrionWorkspace::State first{};
    w_.means.assign(search_.waits_.begin(), search_.waits_.end());
    w_.squares.assign(search_.paths_, 0);
    for (std::size_t s = 0; s < search_.stages_.size(); ++s) {
      const Choice& c = search_.stages_[s][search_.least_[s]];
      first.cost += c.cost;
      first.key += c.digit;
      for (std::size_t p = 0; p < search_.paths_; ++p) {
        if (search_.on_path_[s * search_.paths_ + p] == 0) continue;
        w_.means[p] += c.ms;
        w_.squares[p] += c.ms * c.ms;
      }
    }
    first.p95_ms = p95(w_.means.data(), w_.squares.data());
    w_.chosen = search_.least_;
    (void)is_new(first.key);
    open(first);
  }

  [[nodiscard]] double p95(const double* means, const double* squares) const {
    const double factor = search_.options_.quantile * search_.options_.sigma;
    double slowest = 0;
    for (std::size_t p = 0; p < search_.paths_; ++p)
      slowest = std::max(slowest, means[p] + factor * std::sqrt(std::max(0.0, squares[p])));
    return slowest;
  }

  void step_up(std::uint32_t from) {
    const std::size_t stages = search_.stages_.size();
    for (std::uint32_t s = 0; s < stages; ++s) {
      const Choice* choices = search_.stages_[s].data();
      const Choice& now = choices[w_.chosen[from * stages + s]];
      for (const std::uint32_t up : now.up) {
        if (up == kNone || choices[up].batch > std::max(cap_, now.batch)) continue;
        const std::uint64_t key = w_.states[from].key - now.digit + choices[up].digit;
        if (w_.states.size() < states_max_ && is_new(key)) add(from, s, up, key);
      }
    }
  }

  // Sums change by what the one stage changes.
  void add(std::uint32_t from, std::uint32_t s, std::uint32_t up, std::uint64_t key) {
    const std::size_t stages = search_.stages_.size(), first = w_.chosen.size();
    w_.chosen.resize(first + stages);
    std::copy_n(w_.chosen.begin() + static_cast<std::ptrdiff_t>(from * stages), stages,
                w_.chosen.begin() + static_cast<std::ptrdiff_t>(first));
    const Choice &before = search_.stages_[s][w_.chosen[first + s]], &after = search_.stages_[s][up];
    w_.chosen[first + s] = up;
    const std::size_t paths = search_.paths_, old = from * paths, own = w_.means.size();
    w_.means.resize(own + paths);
    w_.squares.resize(own + paths);
    const std::uint8_t* on_path = search_.on_path_.data() + s * paths;
    for (std::size_t p = 0; p < paths; ++p) {
      w_.means[own + p] = w_.means[old + p] + (on_path[p] ? after.ms - before.ms : 0);
      w_.squares[own + p] = w_.squares[old + p] + (on_path[p] ? after.ms * after.ms - before.ms * before.ms : 0);
    }
    open({.p95_ms = p95(w_.means.data() + own, w_.squares.data() + own),
          .cost = w_.states[from].cost + (after.cost - before.cost),
          .key = key});
  }

  void open(const OrionWorkspace::State& state) {
    const auto index = static_cast<std::uint32_t>(w_.states.size());
    w_.states.push_back(state);
    if (state.p95_ms < w_.states[fastest_].p95_ms) fastest_ = index;
    w_.open.emplace_back(state.p95_ms * state.cost, index);
    std::push_heap(w_.open.begin(), w_.open.end(), std::greater<>());
  }

  // Adds a key to the table, which is at most 5/8 full; false if it is there.
  bool is_new(std::uint64_t key) {
    if (w_.states.size() * 8 >= w_.seen.size() * 5) grow();
    std::uint64_t& slot = slot_of(key);
    if (slot == key) return false;
    slot = key;
    return true;
  }
  std::uint64_t& slot_of(std::uint64_t key) {
    const std::size_t mask = w_.seen.size() - 1;
    std::size_t i = ((key * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (w_.seen[i] != kFree && w_.seen[i] != key) i = (i + 1) & mask;
    return w_.seen[i];
  }
  void grow() {
    w_.seen.assign(w_.seen.size() * 4, kFree);
    for (const OrionWorkspace::State& state : w_.states) slot_of(state.key) = state.key;
  }

  const OrionSearch& search_;
  double budget_ms_;
  BatchCap cap_;
  std::size_t states_max_;
  OrionWorkspace& w_;
  std::uint32_t fastest_ = 0;  // the lowest P95 seen
};

OrionPlan OrionSearch::find(double budget_ms, BatchCap cap, OrionWorkspace& workspace) const {
  CHECK(!std::isnan(budget_ms));
  return Run(*this, budget_ms, cap, workspace).run();
}

}  // namespace sluice::plan
