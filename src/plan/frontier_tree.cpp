#include "plan/frontier_tree.h"

#include "base/check.h"
#include "plan/irregular_frontier.h"

namespace sluice::plan {

using Kind = SeriesParallelTree::Kind;

TreeLinks::TreeLinks(const WorkflowModel& model)
    : parent(model.tree.nodes.size()), position(model.tree.nodes.size()), leaf(model.stages.size()) {
  const SeriesParallelTree& tree = model.tree;
  for (Index i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].kind == Kind::stage) leaf[tree.nodes[i].stage] = i;
    const auto children = tree.children_of(tree.nodes[i]);
    for (std::uint32_t c = 0; c < children.size(); ++c) {
      parent[children[c]] = i;
      position[children[c]] = c;
    }
  }
  parent[tree.root()] = tree.root();
}

FrontierTree::FrontierTree(const WorkflowModel& model, BatchCap cap, std::size_t points_max)
    : cap_(cap),
      points_max_(points_max),
      nothing_(nothing_to_do()),
      nodes_(model.tree.nodes.size()),
      suffixes_(model.tree.nodes.size()),
      choices_(model.tree.nodes.size()) {
  for (Index i = 0; i < model.tree.nodes.size(); ++i) {  // children come before their parents
    if (model.tree.nodes[i].kind == Kind::series)
      build_series(model, i);
    else
      nodes_[i] = build(model, i);
  }
}

const Frontier& FrontierTree::of(const WorkflowModel& model, Index node) const {
  return model.tree.nodes[node].kind == Kind::series ? suffix(model, node, 0) : nodes_[node];
}

const Frontier& FrontierTree::suffix(const WorkflowModel& model, Index series_node, std::size_t from) const {
  const auto& suffixes = suffixes_[series_node];
  if (from < suffixes.size()) return suffixes[from];
  const auto children = model.tree.children_of(model.tree.nodes[series_node]);
  return from < children.size() ? of(model, children[from]) : nothing_;
}

std::span<const std::uint32_t> FrontierTree::choices(const WorkflowModel& model, Index irregular,
                                                     std::size_t point) const {
  const std::size_t width = model.tree.nodes[irregular].child_count;
  return {choices_[irregular].data() + point * width, width};
}

std::vector<const Frontier*> FrontierTree::children(const WorkflowModel& model, Index node) const {
  std::vector<const Frontier*> out;
  for (const Index child : model.tree.children_of(model.tree.nodes[node])) out.push_back(&of(model, child));
  return out;
}

Frontier FrontierTree::build(const WorkflowModel& model, Index node) {
  const SeriesParallelTree::Node& at = model.tree.nodes[node];
  switch (at.kind) {
    case Kind::series:
      break;
    case Kind::empty:
      return nothing_to_do();
    case Kind::stage: {
      const ModelStage& stage = model.stages[at.stage];
      return stage_frontier(stage.candidates, cap_, stage.scale, stage.wait_ms);
    }
    case Kind::parallel:
      return parallel(children(model, node), at.needed, points_max_);
    case Kind::irregular: {
      IrregularFrontier made =
          irregular_frontier(IrregularRegion(model.tree, node), children(model, node), points_max_);
      choices_[node] = std::move(made.choices);
      return std::move(made.frontier);
    }
  }
  CHECK(false);  // it has suffixes
}

void FrontierTree::build_series(const WorkflowModel& model, Index node) {
  const auto children = model.tree.children_of(model.tree.nodes[node]);
  CHECK(children.size() >= 2);
  auto& suffixes = suffixes_[node];
  suffixes.resize(children.size() - 1);
  for (std::size_t i = suffixes.size(); i-- > 0;)
    suffixes[i] = series(of(model, children[i]), suffix(model, node, i + 1), points_max_);
}

void FrontierTree::collect(const WorkflowModel& model, Index node, std::size_t root_point,
                           std::vector<ChosenStage>& out) const {
  struct Todo {
    Index node;
    std::size_t point;
  };
  std::vector<Todo> stack = {{node, root_point}};  // not recursion: trees may be deep
  std::vector<Todo> below;
  while (!stack.empty()) {
    const auto [index, point] = stack.back();
    stack.pop_back();
    const SeriesParallelTree::Node& at = model.tree.nodes[index];
    const auto nodes = model.tree.children_of(at);
    below.clear();
    if (at.kind == Kind::stage) {
      out.push_back({at.stage, nodes_[index][point].left});
    } else if (at.kind == Kind::series) {
      std::size_t rest = point;
      for (std::size_t i = 0; i < suffixes_[index].size(); ++i) {
        below.push_back({nodes[i], suffixes_[index][i][rest].left});
        rest = suffixes_[index][i][rest].right;
      }
      below.push_back({nodes.back(), rest});
    } else if (at.kind == Kind::parallel) {
      std::vector<std::size_t> chosen(nodes.size());
      choose_parallel(children(model, index), at.needed, nodes_[index][point].ms, chosen);
      for (std::size_t i = 0; i < nodes.size(); ++i) below.push_back({nodes[i], chosen[i]});
    } else if (at.kind == Kind::irregular) {
      const auto chosen = choices(model, index, point);
      for (std::size_t i = 0; i < nodes.size(); ++i) below.push_back({nodes[i], chosen[i]});
    }
    stack.insert(stack.end(), below.rbegin(), below.rend());
  }
}

void FrontierTree::collect_suffix(const WorkflowModel& model, Index series_node, std::size_t from, std::size_t point,
                                  std::vector<ChosenStage>& out) const {
  const auto children = model.tree.children_of(model.tree.nodes[series_node]);
  for (std::size_t i = from; i < children.size(); ++i) {
    const bool last = i + 1 == children.size();
    const Frontier& here = suffix(model, series_node, i);
    collect(model, children[i], last ? point : here[point].left, out);
    if (!last) point = here[point].right;
  }
}

std::size_t FrontierTree::points() const {
  std::size_t total = 0;
  for (const Frontier& frontier : nodes_) total += frontier.size();
  for (const auto& suffixes : suffixes_) {
    for (const Frontier& frontier : suffixes) total += frontier.size();
  }
  return total;
}

}  // namespace sluice::plan
