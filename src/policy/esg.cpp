#include "policy/esg.h"

#include <algorithm>

#include "plan/esg_1q.h"
#include "plan/normalised_length.h"
#include "plan/slo_split.h"
#include "policy/home.h"

namespace sluice::policy {
namespace {

// What is derived from an application once: the split of its objective and the sorted candidates of every group suffix.
class EsgModel {
 public:
  EsgModel(std::shared_ptr<const plan::FrontierPlanner> planner, std::size_t group) : planner_(std::move(planner)) {
    for (const plan::ModelStage& stage : planner_->model().stages) candidates_.push_back(stage.candidates);
    split_ = plan::split_slo(planner_->model().tree, plan::average_normalised_lengths(candidates_), group);
    sorted_.resize(candidates_.size());
  }
  // False after the profile has changed.
  [[nodiscard]] bool is_of(const Queue& queue) const { return planner_ == queue.planner; }
  [[nodiscard]] double budget_ms(std::uint32_t stage, double remaining_ms) const {
    return split_.budget_ms(stage, remaining_ms);
  }
  // The group's stages from `stage` on with batches up to `cap`; built when first asked for.
  const plan::SortedStages& stages(std::uint32_t stage, plan::BatchCap cap) {
    for (const auto& [known, sorted] : sorted_[stage]) {
      if (known == cap) return *sorted;
    }
    std::vector<plan::Candidates> group;
    for (const Graph::Node s : split_.stages_left(stage)) group.push_back(candidates_[s]);
    sorted_[stage].emplace_back(cap, std::make_unique<plan::SortedStages>(group, cap, plan::SortedStages::Keep::all));
    return *sorted_[stage].back().second;
  }
  // The largest batch some candidate of the stage has that is no larger than the queue: between two, caps are the same.
  [[nodiscard]] plan::BatchCap cap(std::uint32_t stage, std::size_t waiting) const {
    plan::BatchCap best = 0;
    for (const Graph::Node s : split_.stages_left(stage)) {
      for (const plan::Candidate& c : candidates_[s]) {
        if (c.configuration.batch <= waiting) best = std::max<plan::BatchCap>(best, c.configuration.batch);
      }
    }
    return best;
  }
  [[nodiscard]] const plan::Candidates& candidates(std::uint32_t stage) const { return candidates_[stage]; }

 private:
  std::shared_ptr<const plan::FrontierPlanner> planner_;
  std::vector<plan::Candidates> candidates_;
  plan::SloSplit split_;
  std::vector<std::vector<std::pair<plan::BatchCap, std::unique_ptr<plan::SortedStages>>>> sorted_;
};

class Esg final : public Dispatch {
 public:
  explicit Esg(const Parameters& parameters)
      : k_(static_cast<std::size_t>(parameter_or(parameters, "k", 5))),
        group_(static_cast<std::size_t>(parameter_or(parameters, "group", 3))),
        fails_max_(static_cast<std::uint32_t>(parameter_or(parameters, "fails", 3))),
        safety_(parameter_or(parameters, "safety", 1)) {}

  void begin(const View& view) override {
    if (state_.fails.size() < view.queues.size()) {
      state_.fails.resize(view.queues.size());
      state_.recheck.resize(view.queues.size());
    }
    pass_.clear();
    // Queues in round robin from where the last pass stopped, those on the recheck list after the others.
    const auto start = std::lower_bound(view.busy_queues.begin(), view.busy_queues.end(), state_.round_robin);
    const auto add = [&](bool recheck) {
      for (auto it = start; it != view.busy_queues.end(); ++it) add_if(*it, recheck);
      for (auto it = view.busy_queues.begin(); it != start; ++it) add_if(*it, recheck);
    };
    add(false);
    add(true);
    if (!pass_.empty()) state_.round_robin = pass_.front() + 1;
    at_ = 0;
    progressed_ = false;
  }

  bool next(const View& view, Proposals& out) override {
    for (;; ++at_) {
      if (at_ == pass_.size()) {
        if (!progressed_) return false;  // another pass only while something starts
        progressed_ = false;
        at_ = 0;
        if (pass_.empty()) return false;
      }
      const Queue& queue = view.queues[pass_[at_]];
      if (queue.waiting.empty()) continue;
      propose(view, queue, out);
      ++at_;
      return true;
    }
  }

  void told(const View&, const Proposals& proposals, std::optional<std::size_t> booked) override {
    const std::uint32_t queue = proposals.queue.value();
    if (booked) {
      state_.fails[queue] = 0;
      state_.recheck[queue] = 0;
      progressed_ = true;
    } else {
      ++state_.fails[queue];
      state_.recheck[queue] = 1;
    }
  }

  void visit(Archive& archive) override { archive(state_.fails, state_.recheck, state_.round_robin); }

 private:
  struct State {
    std::vector<std::uint32_t> fails;  // in a row, by queue
    std::vector<std::uint8_t> recheck;
    std::uint32_t round_robin = 0;
  };

  void add_if(std::uint32_t queue, bool recheck) {
    if ((state_.recheck[queue] != 0) == recheck) pass_.push_back(queue);
  }

  EsgModel& model(const Queue& queue) {
    while (models_.size() <= queue.id.index()) models_.push_back(nullptr);
    auto& model = models_[queue.id.index()];
    if (model == nullptr || !model->is_of(queue)) model = std::make_unique<EsgModel>(queue.planner, group_);
    return *model;
  }

  void propose(const View& view, const Queue& queue, Proposals& out) {
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    EsgModel& esg = model(queue);
    const std::uint32_t stage = queue.model_stage;
    find_order(view, queue);
    if (state_.fails[queue.id.index()] >= fails_max_) {  // forced minimum
      offer(view, queue, plan::least(esg.candidates(stage)).configuration, out);
      return;
    }
    const double budget = esg.budget_ms(stage, (queue.waiting.front().deadline - view.now).to_ms()) / safety_;
    const plan::BatchCap cap = esg.cap(stage, queue.waiting.size());
    const plan::SearchResult found = plan::esg_1q(esg.stages(stage, cap), {.budget_ms = budget, .k = k_}, workspace_);
    out.work.expansions = found.expansions;
    for (const plan::Path& path : found.paths)
      offer(view, queue, esg.candidates(stage)[path.candidates[0]].configuration, out);
    if (!found.paths.empty()) return;
    offer(view, queue, fastest(esg.candidates(stage), cap), out);  // out of reach: as fast as it goes
    offer(view, queue, plan::least(esg.candidates(stage)).configuration, out);
  }

  // Invokers in the order in which ESG tries them: the home for a first stage; where inputs are, most of them first;
  // then everything in probe order.
  void find_order(const View& view, const Queue& queue) {
    const auto& application = *view.application(queue.application).application;
    const auto n = static_cast<std::uint32_t>(view.invokers.size());
    const HomeOrder home(application.tenant, application.function(queue.function).name, n);
    order_.clear();
    if (!queue.entry)
      order_.push_back(queue.waiting.front().inputs_at.valid() ? queue.waiting.front().inputs_at.value() : home[0]);
    for (std::uint32_t i = 0; i < n; ++i) order_.push_back(home[i]);
  }

  void offer(const View& view, const Queue& queue, const Configuration& c, Proposals& out) const {
    for (const std::uint32_t invoker : order_) {
      if (!view.fits(queue, c, invoker)) continue;
      const auto members = static_cast<std::uint32_t>(std::min<std::size_t>(c.batch, queue.waiting.size()));
      out.ranked.push_back({.configuration = c, .invoker = InvokerId(invoker), .members = members});
      return;
    }
  }

  static Configuration fastest(const plan::Candidates& candidates, plan::BatchCap cap) {
    const plan::Candidate* best = nullptr;
    for (const plan::Candidate& c : candidates) {
      if (c.configuration.batch <= cap && (best == nullptr || c.ms < best->ms)) best = &c;
    }
    return best == nullptr ? plan::least(candidates).configuration : best->configuration;
  }

  std::size_t k_, group_;
  std::uint32_t fails_max_;
  double safety_;
  State state_;
  // Derived or of one instant only: not part of the state.
  std::vector<std::unique_ptr<EsgModel>> models_;  // by queue
  plan::SearchWorkspace workspace_;
  std::vector<std::uint32_t> pass_, order_;
  std::size_t at_ = 0;
  bool progressed_ = false;
};

}  // namespace

std::unique_ptr<Dispatch> make_esg(const Parameters& parameters) {
  return std::make_unique<Esg>(parameters);
}

}  // namespace sluice::policy
