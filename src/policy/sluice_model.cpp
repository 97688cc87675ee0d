#include "policy/sluice_model.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/save.h"
#include "policy/miss_price.h"
#include "policy/slice_positions.h"

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

// The least that the stage adds to the cost of a request, in full batches.
Dollars cheapest(const plan::ModelStage& stage) {
  Dollars least = std::numeric_limits<Dollars>::infinity();
  for (const plan::Candidate& c : stage.candidates) least = std::min(least, c.cost * stage.scale.cost);
  return least;
}

Dollars cheapest(const plan::WorkflowModel& model, Tree::Index index) {
  const Tree::Node& node = model.tree.nodes[index];
  if (node.kind == Tree::Kind::stage) return cheapest(model.stages[node.stage]);
  Dollars sum = 0;
  for (const Tree::Index child : model.tree.children_of(node)) sum += cheapest(model, child);
  return sum;
}

// What may be to come when each stage starts: what follows, and what runs beside it. `outside`: of the part.
void count_to_come(const plan::WorkflowModel& model, Tree::Index index, Dollars outside, std::vector<Dollars>& out) {
  const Tree::Node& node = model.tree.nodes[index];
  if (node.kind == Tree::Kind::stage) out[node.stage] = outside;
  const auto children = model.tree.children_of(node);
  Dollars others = node.kind == Tree::Kind::series ? 0 : cheapest(model, index);
  for (std::size_t i = children.size(); i-- > 0;) {
    const Dollars own = cheapest(model, children[i]);
    const bool in_a_row = node.kind == Tree::Kind::series;
    count_to_come(model, children[i], outside + (in_a_row ? others : others - own), out);
    if (in_a_row) others += own;
  }
}

// Without what no machine holds, and without what makes a request dearer than its cost limit, however cheap the rest
// is. A stage that would have nothing left keeps what it has. Nothing if all stay.
std::optional<plan::WorkflowModel> restricted(const plan::WorkflowModel& model, const Objective& objective,
                                              std::span<const NodeGroup> machines) {
  const Dollars all = least_cost(model);
  plan::WorkflowModel out;
  for (std::size_t s = 0; s < model.stages.size(); ++s) {
    const plan::ModelStage& stage = model.stages[s];
    const auto held = [&](const plan::Candidate& c) {
      return machines.empty() || std::any_of(machines.begin(), machines.end(), [&](const NodeGroup& machine) {
               return machine_holds(machine, c.configuration);
             });
    };
    const auto affordable = [&](const plan::Candidate& c) {
      return !objective.cost || all - cheapest(stage) + c.cost * stage.scale.cost <= *objective.cost;
    };
    plan::ModelStage kept{stage.name, stage.function, {}, {}, stage.scale, stage.wait_ms, stage.stragglers};
    for (std::size_t i = 0; i < stage.candidates.size(); ++i) {
      if (!held(stage.candidates[i]) || !affordable(stage.candidates[i])) continue;
      kept.candidates.push_back(stage.candidates[i]);
      kept.sd_ms.push_back(stage.sd_ms[i]);
    }
    const bool alone = std::any_of(kept.candidates.begin(), kept.candidates.end(),
                                   [](const plan::Candidate& c) { return c.configuration.batch == 1; });
    if (kept.candidates.size() == stage.candidates.size() || !alone) {
      if (!out.stages.empty()) out.stages.push_back(stage);
      continue;
    }
    if (out.stages.empty())
      out.stages.assign(model.stages.begin(), model.stages.begin() + static_cast<std::ptrdiff_t>(s));
    out.stages.push_back(std::move(kept));
  }
  if (out.stages.empty()) return std::nullopt;
  out.tree = model.tree;
  return out;
}

// What a missed request is worth avoiding: a multiple of the cheapest plan of a request that is alone, but more than
// the fastest one costs, or those who need that would be given up.
Dollars fixed_price(const plan::WorkflowModel& model, double times) {
  constexpr double kFastest = 3;
  constexpr Dollars kLeast = 1e-12;  // where everything is free
  Dollars slow = 0, fast = 0;
  for (const plan::ModelStage& stage : model.stages) {
    Dollars least = std::numeric_limits<Dollars>::infinity();
    const plan::Candidate* fastest = nullptr;
    for (const plan::Candidate& c : stage.candidates) {
      if (c.configuration.batch > 1) continue;
      least = std::min(least, c.cost);
      if (fastest == nullptr || std::tie(c.ms, c.cost) < std::tie(fastest->ms, fastest->cost)) fastest = &c;
    }
    slow += least * stage.scale.cost;
    fast += fastest->cost * stage.scale.cost;
  }
  return std::max({times * slow, kFastest * fast, kLeast});
}

double stretched(double ms, std::uint32_t times) {
  for (; times > 0; --times) ms *= ModelKind::kStretch;
  return ms;
}

plan::ValueTable make_table(const plan::WorkflowModel& model, double horizon_ms, std::uint32_t level,
                            const SluiceOptions& options) {
  const Dollars fixed = fixed_price(model, options.miss_times);
  Dollars price = fixed;
  for (std::uint32_t i = 0; i < level; ++i) price /= MissPrice::kStep;
  return plan::ValueTable::build(model, {.miss_price = price,
                                         .drop_price = fixed,
                                         .horizon_ms = horizon_ms,
                                         .sigma_floor = options.sigma,
                                         .per_stage_overhead_ms = options.reserve_ms});
}

// Measured on ESG's applications: 10 to 21 ms for a model, 0.7 ns a product of its table.
std::uint64_t expansions_of(const plan::ValueTable& table) {
  constexpr std::uint64_t kProducts = 7;  // that take as long as one expansion
  return table.work() / kProducts;
}

}  // namespace

Dollars least_cost(const plan::WorkflowModel& model) {
  Dollars sum = 0;
  for (const plan::ModelStage& stage : model.stages) sum += cheapest(stage);
  return sum;
}

std::uint64_t content_of(const plan::WorkflowModel& model, const std::vector<NodeGroup>& machines) {
  Hash hash;
  add_to(hash, machines);
  for (const plan::ModelStage& stage : model.stages) {
    hash.add_word(stage.candidates.size());
    hash.add_word(std::bit_cast<std::uint64_t>(stage.scale.ms));
    hash.add_word(std::bit_cast<std::uint64_t>(stage.scale.cost));
    hash.add_word(std::bit_cast<std::uint64_t>(stage.stragglers.share));
    hash.add_word(std::bit_cast<std::uint64_t>(stage.stragglers.times));
    for (const plan::Candidate& c : stage.candidates) hash.add_word(std::bit_cast<std::uint64_t>(c.ms));
    for (const double sd : stage.sd_ms) hash.add_word(std::bit_cast<std::uint64_t>(sd));
  }
  return std::max<std::uint64_t>(1, hash.value());  // 0: nothing was made
}

SluiceModel::SluiceModel(std::shared_ptr<const plan::WorkflowModel> whole, const Application& application,
                         std::span<const NodeGroup> machines, ModelKind kind, const SluiceOptions& options)
    : whole_(std::move(whole)),
      restricted_(restricted(*whole_, application.objective, machines)),
      level_(kind.level),
      horizon_ms_(stretched(std::max(1.0, application.objective.latency.to_ms()), kind.stretch)),
      table_(make_table(model(), horizon_ms_, kind.level, options)),
      build_expansions_(expansions_of(table_)) {
  has_branches_ = std::any_of(model().tree.nodes.begin(), model().tree.nodes.end(), [](const Tree::Node& node) {
    return node.kind == Tree::Kind::parallel || node.kind == Tree::Kind::irregular;
  });
  to_come_.resize(model().stages.size());
  count_to_come(model(), model().tree.root(), 0, to_come_);
  after_.resize(model().stages.size());
  (void)count_after(model().tree, model().tree.root(), 0, after_);
  next_.resize(model().stages.size());
  find_next(model().tree, model().tree.root(), std::nullopt, next_);
  for (const plan::ModelStage& stage : model().stages) {
    choices_.push_back(worth_a_look(stage.candidates, application.prices));
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
