#include "policy/sluice_model.h"

#include <algorithm>
#include <tuple>

namespace sluice::policy {
namespace {

bool beats(const plan::Candidate& a, const plan::Candidate& b) {
  const Configuration& x = a.configuration;
  const Configuration& y = b.configuration;
  return x.batch == y.batch && x.device == y.device && a.ms <= b.ms && a.cost <= b.cost && x.vcpu <= y.vcpu &&
         x.slices <= y.slices && std::tuple(x, 0) != std::tuple(y, 0);
}

std::vector<Choice> worth_a_look(const plan::Candidates& candidates, const Prices& prices) {
  std::vector<Choice> out;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    const plan::Candidate& c = candidates[i];
    const auto beaten = [&](const plan::Candidate& other) { return beats(other, c) && !beats(c, other); };
    if (std::any_of(candidates.begin(), candidates.end(), beaten)) continue;
    out.push_back({i, c.configuration, c.ms, prices.per_ms(c.configuration) / c.configuration.batch});
  }
  std::sort(out.begin(), out.end(), [](const Choice& a, const Choice& b) {
    const auto key = [](const Choice& c) {
      return std::tuple(c.configuration.batch, c.configuration.slices, c.configuration.vcpu, c.candidate);
    };
    return key(a) < key(b);
  });
  return out;
}

using Tree = SeriesParallelTree;

// The longest row of stages in a part of the workflow; on the way every stage learns how many follow it, `behind` of
// them outside of the part.
std::uint32_t count_after(const Tree& tree, Tree::Index index, std::uint32_t behind,
                          std::vector<std::uint32_t>& after) {
  const Tree::Node& node = tree.nodes[index];
  if (node.kind == Tree::Kind::stage) {
    after[node.stage] = behind;
    return 1;
  }
  std::uint32_t length = 0;
  const auto children = tree.children_of(node);
  for (std::size_t i = children.size(); i-- > 0;) {
    const bool in_a_row = node.kind == Tree::Kind::series || node.kind == Tree::Kind::irregular;
    const std::uint32_t own = count_after(tree, children[i], behind + (in_a_row ? length : 0), after);
    length = in_a_row ? length + own : std::max(length, own);
  }
  return length;
}

using Next = std::optional<std::uint32_t>;

void find_next(const Tree& tree, Tree::Index index, Next behind, std::vector<Next>& next) {
  const Tree::Node& node = tree.nodes[index];
  if (node.kind == Tree::Kind::stage) next[node.stage] = behind;
  const auto children = tree.children_of(node);
  for (std::size_t i = children.size(); i-- > 0;) {
    find_next(tree, children[i], behind, next);
    const Graph::Node first = tree.first_stage(children[i]);
    if (node.kind != Tree::Kind::parallel && first != Graph::kNone) behind = first;
  }
}

}  // namespace

SluiceModel::SluiceModel(std::shared_ptr<const plan::FrontierPlanner> planner, double horizon_ms,
                         const SluiceOptions& options, const Prices& prices)
    : planner_(std::move(planner)),
      horizon_ms_(horizon_ms),
      table_(plan::ValueTable::build(planner_->model(), {.miss_price = options.miss_price,
                                                         .horizon_ms = horizon_ms,
                                                         .sigma_floor = options.sigma,
                                                         .per_stage_overhead_ms = options.reserve_ms})) {
  after_.resize(planner_->model().stages.size());
  (void)count_after(planner_->model().tree, planner_->model().tree.root(), 0, after_);
  next_.resize(planner_->model().stages.size());
  find_next(planner_->model().tree, planner_->model().tree.root(), std::nullopt, next_);
  for (const plan::ModelStage& stage : planner_->model().stages) {
    choices_.push_back(worth_a_look(stage.candidates, prices));
    // The cheapest of one at a time stands for what is planned; what really runs is learned.
    Taken least;
    Dollars cost = 0;
    for (const Choice& choice : choices_.back()) {
      if (choice.configuration.batch > choices_.back().front().configuration.batch) break;
      const Dollars c = choice.per_ms * choice.ms;
      if (least.none() || c < cost) {
        cost = c;
        least = Taken::by(choice.configuration) * choice.ms / choice.configuration.batch;
      }
    }
    taken_ms_.push_back(least);
  }
}

const Choice* SluiceModel::cheapest_alone(std::uint32_t stage, double left_ms) const {
  const auto decision = table_.decide(stage, 1, left_ms);
  const Choice* best = nullptr;
  Dollars least = 0;
  for (const Choice& choice : choices_[stage]) {
    if (choice.configuration.batch > 1) break;
    const Dollars expected = decision.expected(choice.candidate);
    if (best != nullptr && expected >= least) continue;
    best = &choice;
    least = expected;
  }
  return best;
}

}  // namespace sluice::policy
