// What holds for the tree of every workflow, checked on thousands of small random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "domain/paths.h"
#include "domain/series_parallel.h"
#include "support/random_workflow.h"

namespace sluice {
namespace {

using Node = Graph::Node;
using Tree = SeriesParallelTree;
using Kind = Tree::Kind;
using Matrix = std::vector<std::vector<bool>>;  // [a][b]: a comes before b
using Needed = std::vector<std::uint32_t>;

void close_transitively(Matrix& before) {
  for (std::size_t k = 0; k < before.size(); ++k) {
    for (std::size_t a = 0; a < before.size(); ++a) {
      for (std::size_t b = 0; before[a][k] && b < before.size(); ++b) before[a][b] = before[a][b] || before[k][b];
    }
  }
}

Matrix precedence(const Graph& graph) {
  Matrix before(graph.size(), std::vector<bool>(graph.size(), false));
  for (Node v = 0; v < graph.size(); ++v) {
    for (const Node p : graph.predecessors(v)) before[p][v] = true;
  }
  close_transitively(before);
  return before;
}

// Which children of a series or an irregular node come before which.
Matrix precedence_of_children(const Tree& tree, const Tree::Node& node) {
  Matrix before(node.child_count, std::vector<bool>(node.child_count, false));
  for (std::size_t a = 0; node.kind == Kind::series && a < node.child_count; ++a) {
    for (std::size_t b = a + 1; b < node.child_count; ++b) before[a][b] = true;
  }
  for (const Tree::Edge& edge : tree.edges_of(node)) before[edge.from][edge.to] = true;
  close_transitively(before);
  return before;
}

std::vector<std::vector<Node>> stages_of_nodes(const Tree& tree) {
  std::vector<std::vector<Node>> stages(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].kind == Kind::stage) stages[i] = {tree.nodes[i].stage};
    for (const Tree::Index child : tree.children_of(tree.nodes[i])) {
      stages[i].insert(stages[i].end(), stages[child].begin(), stages[child].end());
    }
  }
  return stages;
}

Matrix precedence(const Tree& tree, std::size_t size) {
  Matrix before(size, std::vector<bool>(size, false));
  const auto stages = stages_of_nodes(tree);
  for (const Tree::Node& node : tree.nodes) {
    const auto children = tree.children_of(node);
    const Matrix order = precedence_of_children(tree, node);
    for (std::size_t a = 0; a < children.size(); ++a) {
      for (std::size_t b = 0; b < children.size(); ++b) {
        if (!order[a][b]) continue;
        for (const Node first : stages[children[a]]) {
          for (const Node second : stages[children[b]]) before[first][second] = true;
        }
      }
    }
  }
  return before;
}

// Two stages where each has a stage before it, one of them both, and no other order: what no series or parallel makes.
bool contains_n(const Matrix& before) {
  const std::size_t size = before.size();
  const auto apart = [&](std::size_t a, std::size_t b) { return a != b && !before[a][b] && !before[b][a]; };
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      for (std::size_t c = 0; apart(a, b) && c < size; ++c) {
        for (std::size_t d = 0; before[a][c] && apart(b, c) && d < size; ++d) {
          if (before[a][d] && before[b][d] && apart(c, d)) return true;
        }
      }
    }
  }
  return false;
}

// Some but not all of the children, more than one, look the same to every other child: they would be a region inside.
bool contains_module(const Matrix& before) {
  const std::size_t size = before.size();
  for (std::uint32_t set = 1; set + 1 < (1u << size); ++set) {
    if ((set & (set - 1)) == 0) continue;
    const auto alike = [&](std::size_t outside) {
      const auto first = static_cast<std::size_t>(std::countr_zero(set));
      for (std::size_t i = 0; i < size; ++i) {
        if ((set >> i & 1) == 0) continue;
        if (before[outside][i] != before[outside][first] || before[i][outside] != before[first][outside]) return false;
      }
      return true;
    };
    bool module = true;
    for (std::size_t i = 0; i < size; ++i) module = module && ((set >> i & 1) != 0 || alike(i));
    if (module) return true;
  }
  return false;
}

void expect_well_formed(const Tree& tree, std::size_t size) {
  ASSERT_GE(tree.nodes.size(), size);
  std::vector<int> parents(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Tree::Node& node = tree.nodes[i];
    EXPECT_EQ(node.kind == Kind::stage, i < size);
    EXPECT_TRUE(i >= size || node.stage == i);
    EXPECT_EQ(node.child_count > 0, node.kind != Kind::stage && node.kind != Kind::empty);
    EXPECT_NE(node.child_count, 1u);
    for (const Tree::Index child : tree.children_of(node)) {
      ASSERT_LT(child, i);
      ++parents[child];
      const Tree::Node& inner = tree.nodes[child];
      EXPECT_FALSE(node.kind == Kind::series && (inner.kind == Kind::series || inner.kind == Kind::empty));
      const auto all = [](const Tree::Node& n) { return n.kind == Kind::parallel && n.needed == n.child_count; };
      EXPECT_FALSE(all(node) && all(inner));
    }
    for (const Tree::Edge& edge : tree.edges_of(node)) EXPECT_LT(edge.from, edge.to);
  }
  EXPECT_EQ(parents.back(), 0);
  EXPECT_TRUE(std::all_of(parents.begin(), parents.end() - 1, [](int count) { return count == 1; }));
}

double nth(std::vector<double> times, std::size_t needed) {
  std::sort(times.begin(), times.end());
  return times[needed - 1];
}

// When each stage starts if stage v takes durations[v]: by the graph …
std::vector<double> starts(const Graph& graph, const Needed& needed, const std::vector<double>& durations) {
  std::vector<double> start(graph.size(), 0);
  for (const Node v : graph.topological_order()) {
    std::vector<double> times;
    for (const Node p : graph.predecessors(v)) times.push_back(start[p] + durations[p]);
    if (!times.empty()) start[v] = nth(times, needed[v]);
  }
  return start;
}

// … and folded over the tree, by the rules of the header alone.
class Fold {
 public:
  Fold(const Tree& tree, const std::vector<double>& durations)
      : tree_(tree), durations_(durations), start_(durations.size()) {
    finish(tree.root(), 0);
  }
  [[nodiscard]] const std::vector<double>& starts() const { return start_; }

 private:
  double finish(Tree::Index index, double start) {
    const Tree::Node& node = tree_.nodes[index];
    if (node.kind == Kind::stage) {
      start_[node.stage] = start;
      return start + durations_[node.stage];
    }
    if (node.kind == Kind::irregular) return finish_irregular(node, start);
    std::vector<double> times;
    for (const Tree::Index child : tree_.children_of(node)) {
      times.push_back(finish(child, start));
      if (node.kind == Kind::series) start = times.back();
    }
    return node.kind == Kind::parallel ? nth(times, node.needed) : start;
  }

  double finish_irregular(const Tree::Node& node, double start) {
    const auto children = tree_.children_of(node);
    std::vector<std::vector<double>> before(children.size());
    std::vector<double> last;
    for (std::size_t c = 0; c < children.size(); ++c) {
      const double end =
          finish(children[c],
                 before[c].empty() ? start : nth(before[c], tree_.needed_to_start(children[c], before[c].size())));
      bool leaves = false;
      for (const Tree::Edge& edge : tree_.edges_of(node)) {
        if (edge.from != c) continue;
        before[edge.to].push_back(end);
        leaves = true;
      }
      if (!leaves) last.push_back(end);
    }
    return nth(last, node.needed);
  }
  const Tree& tree_;
  const std::vector<double>& durations_;
  std::vector<double> start_;
};

// Edges that say what longer paths say already.
Predecessors with_shortcuts(Predecessors predecessors, double probability, Rng& rng) {
  const Matrix before = precedence(graph_of(predecessors));
  for (Node a = 0; a < before.size(); ++a) {
    for (Node b = 0; b < before.size(); ++b) {
      if (before[a][b] && rng.chance(probability)) predecessors[b].push_back(a);
    }
  }
  return predecessors;
}

Needed random_needed(const Graph& graph, Rng& rng) {
  Needed needed;
  for (Node v = 0; v < graph.size(); ++v) {
    const auto all = static_cast<std::uint32_t>(graph.predecessors(v).size());
    needed.push_back(all < 2 || rng.chance(0.5) ? all : 1 + static_cast<std::uint32_t>(rng.below(all)));
  }
  return needed;
}

TEST(SeriesParallelProperty, RandomWorkflowsAreDecomposedExactly) {
  Rng rng(21);
  int irregular = 0;
  for (int round = 0; round < 10'000; ++round) {
    const std::size_t size = 1 + rng.below(13);
    const double density = rng.uniform(0.05, 0.6);
    const Graph graph = graph_of(shuffled(random_workflow(size, density, rng), rng));
    const Tree tree = series_parallel(graph);
    const Matrix before = precedence(graph);
    expect_well_formed(tree, size);
    ASSERT_EQ(precedence(tree, size), before);
    ASSERT_EQ(tree.regular(), !contains_n(before));
    for (const Tree::Node& node : tree.nodes) {
      EXPECT_FALSE(node.kind == Kind::irregular && contains_module(precedence_of_children(tree, node)));
    }
    irregular += tree.regular() ? 0 : 1;
  }
  EXPECT_GT(irregular, 2'000);
  EXPECT_LT(irregular, 8'000);
}

TEST(SeriesParallelProperty, SeriesParallelWorkflowsAreRegularWhateverEdgesSayAgain) {
  Rng rng(22);
  for (int round = 0; round < 3'000; ++round) {
    const std::size_t size = 1 + rng.below(24);
    const double density = rng.below(2) == 0 ? 0 : rng.uniform(0, 0.5);
    const Predecessors plain = shuffled(series_parallel_workflow(size, rng), rng);
    const Graph graph = graph_of(with_shortcuts(plain, density, rng));
    const Tree tree = series_parallel(graph);
    expect_well_formed(tree, size);
    ASSERT_TRUE(tree.regular());
    ASSERT_EQ(precedence(tree, size), precedence(graph));
  }
}

TEST(SeriesParallelProperty, StartTimesAreThoseOfTheGraphWhenJoinsNeedFewer) {
  Rng rng(23);
  for (int round = 0; round < 10'000; ++round) {
    const std::size_t size = 1 + rng.below(12);
    const double density = rng.uniform(0.05, 0.5);
    const bool any = rng.chance(0.5);
    const Predecessors plain =
        any ? random_workflow(size, density, rng)
            : with_shortcuts(series_parallel_workflow(size, rng), rng.chance(0.5) ? 0.1 : 0, rng);
    const Graph graph = graph_of(shuffled(plain, rng));
    const Needed needed = random_needed(graph, rng);
    const Tree tree = series_parallel(graph, needed);
    expect_well_formed(tree, size);
    ASSERT_EQ(precedence(tree, size), precedence(graph));
    for (int draw = 0; draw < 4; ++draw) {
      std::vector<double> durations(size);
      for (double& duration : durations)
        duration = static_cast<double>(rng.below(20));  // whole, so that sums are exact
      ASSERT_EQ(Fold(tree, durations).starts(), starts(graph, needed, durations));
    }
  }
}

TEST(SeriesParallelProperty, LargeIrregularWorkflowsKeepTheirStartTimes) {
  Rng rng(24);
  for (const std::size_t stages : {300u, 3'000u}) {
    const LayeredShape shape{.stages = stages, .layers = 12, .widest = stages / 5, .inputs_max = 4};
    const Graph graph = graph_of(layered_workflow(shape, rng));
    Needed needed = random_needed(graph, rng);
    for (int round = 0; round < 2; ++round) {
      std::vector<double> durations(graph.size());
      for (double& duration : durations) duration = static_cast<double>(rng.below(1'000));
      const Tree tree = series_parallel(graph, needed);
      EXPECT_EQ(Fold(tree, durations).starts(), starts(graph, needed, durations));
      for (Node v = 0; v < graph.size(); ++v) needed[v] = static_cast<std::uint32_t>(graph.predecessors(v).size());
    }
  }
}

TEST(RandomWorkflow, HasTheShapeAskedFor) {
  Rng rng(25);
  const Graph layered = graph_of(layered_workflow({}, rng));
  EXPECT_EQ(layered.size(), 50'000u);
  EXPECT_EQ(longest_paths(layered, std::vector<double>(layered.size(), 1)).length, 47);
  for (const std::size_t stages : {1u, 2u, 50u, 500u, 5'000u, 50'000u}) {
    const Graph graph = graph_of(series_parallel_workflow(stages, rng));
    EXPECT_EQ(graph.size(), stages);
    EXPECT_LE(longest_paths(graph, std::vector<double>(stages, 1)).length, 40);
    EXPECT_LE(graph.edge_count(), 4 * stages);
    EXPECT_TRUE(series_parallel(graph).regular());
  }
}

}  // namespace
}  // namespace sluice
