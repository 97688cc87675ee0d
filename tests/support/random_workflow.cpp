#include "support/random_workflow.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace sluice {
namespace {

using Node = Graph::Node;

std::size_t below(std::size_t bound, Rng& rng) {
  return static_cast<std::size_t>(rng.below(bound));
}

std::vector<std::size_t> layer_sizes(const LayeredShape& shape, Rng& rng) {
  std::vector<std::size_t> sizes(shape.layers, 1);
  const std::size_t widest = shape.layers / 2;
  sizes[widest] = shape.widest;
  for (std::size_t left = shape.stages - shape.widest - (shape.layers - 1); left > 0;) {
    const std::size_t layer = below(shape.layers, rng);
    if (layer == widest) continue;
    const std::size_t share = std::min({left, 1 + below(64, rng), shape.widest - sizes[layer]});
    sizes[layer] += share;
    left -= share;
  }
  return sizes;
}

// Builds a series-parallel workflow from the outside in. Recursion is as deep as the nesting, some 20 for 50,000
// stages.
class SeriesParallelBuilder {
 public:
  explicit SeriesParallelBuilder(Rng& rng) : rng_(rng) {}
  Predecessors build(std::size_t stages) {
    fragment(stages, 40);
    return std::move(predecessors_);
  }

 private:
  struct Fragment {
    std::vector<Node> entries, exits;
  };

  // Length in which `stages` fit by forks of four; up to four stages are put side by side without a fork.
  static std::size_t length_for(std::size_t stages) { return stages <= 4 ? 1 : 2 + length_for((stages + 2) / 3); }

  Fragment stage() {
    predecessors_.emplace_back();
    const auto v = static_cast<Node>(predecessors_.size() - 1);
    return {{v}, {v}};
  }
  Fragment connect(const Fragment& first, const Fragment& second) {
    for (const Node v : second.entries) {
      predecessors_[v].insert(predecessors_[v].end(), first.exits.begin(), first.exits.end());
    }
    return {first.entries, second.exits};
  }
  Fragment beside(std::size_t stages, std::size_t length, std::size_t branches) {
    Fragment all;
    for (; branches > 0; --branches) {
      const std::size_t even = stages / branches;
      const std::size_t share = branches == 1 ? stages : even - below(even / 8 + 1, rng_);
      const Fragment branch = fragment(share, length);
      all.entries.insert(all.entries.end(), branch.entries.begin(), branch.entries.end());
      all.exits.insert(all.exits.end(), branch.exits.begin(), branch.exits.end());
      stages -= share;
    }
    return all;
  }
  Fragment in_series(std::size_t stages, std::size_t length) {
    const std::size_t first = 1 + below(stages - 1, rng_);
    const std::size_t needed = length_for(first) + length_for(stages - first);
    if (needed > length) return fork(stages, length);
    const std::size_t first_length = length_for(first) + below(length - needed + 1, rng_);
    const Fragment before = fragment(first, first_length);
    return connect(before, fragment(stages - first, length - first_length));
  }
  Fragment fork(std::size_t stages, std::size_t length) {
    if (stages <= 4 || length < 3) return beside(stages, length, std::min<std::size_t>(stages, 2 + below(3, rng_)));
    std::size_t branches = 2 + below(3, rng_);
    if (length_for(2 * stages / branches) + 2 > length) branches = 4;
    branches = std::min(branches, stages - 2);
    const Fragment first = stage();
    const Fragment middle = connect(first, beside(stages - 2, length - 2, branches));
    return connect(middle, stage());
  }
  Fragment fragment(std::size_t stages, std::size_t length) {
    if (stages == 1) return stage();
    return length >= 2 && rng_.chance(0.4) ? in_series(stages, length) : fork(stages, length);
  }

  Rng& rng_;
  Predecessors predecessors_;
};

}  // namespace

Predecessors layered_workflow(const LayeredShape& shape, Rng& rng) {
  Predecessors result(shape.stages);
  std::size_t layer_start = 0, previous_start = 0;
  for (const std::size_t size : layer_sizes(shape, rng)) {
    for (std::size_t v = layer_start; v < layer_start + size && layer_start > 0; ++v) {
      const std::size_t inputs = 1 + below(shape.inputs_max, rng);
      for (std::size_t i = 0; i < inputs; ++i) {
        const std::size_t from = i == 0 || rng.chance(0.8) ? previous_start : 0;
        result[v].push_back(static_cast<Node>(from + below(layer_start - from, rng)));
      }
    }
    previous_start = std::exchange(layer_start, layer_start + size);
  }
  return result;
}

Predecessors series_parallel_workflow(std::size_t stages, Rng& rng) {
  return SeriesParallelBuilder(rng).build(stages);
}

Predecessors random_workflow(std::size_t stages, double edge_probability, Rng& rng) {
  Predecessors result(stages);
  for (std::size_t v = 0; v < stages; ++v) {
    for (std::size_t before = 0; before < v; ++before) {
      if (rng.chance(edge_probability)) result[v].push_back(static_cast<Node>(before));
    }
  }
  return result;
}

Predecessors chain(std::size_t stages) {
  Predecessors result(stages);
  for (std::size_t v = 1; v < stages; ++v) result[v] = {static_cast<Node>(v - 1)};
  return result;
}

Predecessors nested_diamonds(std::size_t depth) {
  // Forks 0 … depth-1, then the branches beside them, the innermost stage and the joins from the inside out.
  Predecessors result(3 * depth + 1);
  const auto id = [](std::size_t i) { return static_cast<Node>(i); };
  for (std::size_t i = 0; i < depth; ++i) {
    if (i > 0) result[i] = {id(i - 1)};
    result[depth + i] = {id(i)};
    result[2 * depth + 1 + i] = {id(2 * depth + i), id(2 * depth - 1 - i)};
  }
  if (depth > 0) result[2 * depth] = {id(depth - 1)};
  return result;
}

Predecessors ladder(std::size_t rungs) {
  Predecessors result(2 * rungs);
  for (std::size_t i = 0; i < rungs; ++i) {
    if (i > 0) result[i] = {static_cast<Node>(i - 1)};
    result[rungs + i] = {static_cast<Node>(i)};
    if (i > 0) result[rungs + i].push_back(static_cast<Node>(rungs + i - 1));
  }
  return result;
}

Predecessors shuffled(const Predecessors& workflow, Rng& rng) {
  std::vector<Node> id(workflow.size());
  std::iota(id.begin(), id.end(), 0);
  for (std::size_t i = id.size(); i > 1; --i) std::swap(id[i - 1], id[below(i, rng)]);
  Predecessors result(workflow.size());
  for (std::size_t v = 0; v < workflow.size(); ++v) {
    for (const Node before : workflow[v]) result[id[v]].push_back(id[before]);
  }
  return result;
}

Workflow workflow_of(const Predecessors& predecessors) {
  Workflow workflow;
  for (std::size_t v = 0; v < predecessors.size(); ++v) {
    Stage stage;
    stage.name = "s" + std::to_string(v);
    stage.function = FunctionId(0);
    for (const Node before : predecessors[v]) {
      const StageId id(before);
      if (std::find(stage.after.begin(), stage.after.end(), id) == stage.after.end()) stage.after.push_back(id);
    }
    workflow.stages.push_back(std::move(stage));
  }
  return workflow;
}

Graph graph_of(const Predecessors& predecessors) {
  auto made = Graph::make(predecessors);
  CHECK(std::holds_alternative<Graph>(made));
  return std::get<Graph>(std::move(made));
}

}  // namespace sluice
