#include "plan/workflow_model.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/text.h"
#include "domain/graph.h"
#include "profile/cost.h"

namespace sluice::plan {
namespace {

// Stages that run without an error: all but handlers and what only they lead to.
std::vector<bool> regular_stages(const Workflow& workflow, const Graph& graph) {
  std::vector<bool> handler(workflow.size());
  for (const Stage& stage : workflow.stages) {
    for (const Catch& c : stage.catches) handler[c.handler.index()] = true;
  }
  std::vector<bool> regular(workflow.size());
  for (const Graph::Node node : graph.topological_order()) {
    const auto before = graph.predecessors(node);
    regular[node] = before.empty()
                        ? !handler[node]
                        : std::any_of(before.begin(), before.end(), [&](Graph::Node b) { return regular[b]; });
  }
  return regular;
}

// A batch may run with fewer invocations than it holds. Where a larger one of the same vCPUs, slices and device is all
// there is, it is also a candidate for one invocation, and for powers of two below it: the profile's time of a batch
// below the least is that of the least, so each of its invocations pays for the whole. Every stage can then run one
// invocation, and no search has to know of batches that are not full.
std::vector<Configuration> with_partial_batches(std::vector<Configuration> allowed) {
  const auto share = [](const Configuration& c) { return std::tuple(c.device, c.slices, c.vcpu); };
  std::map<decltype(share(Configuration{})), std::uint16_t> least;
  for (const Configuration& c : allowed) {
    const auto [it, fresh] = least.emplace(share(c), c.batch);
    if (!fresh) it->second = std::min(it->second, c.batch);
  }
  for (const auto& [key, full] : least) {
    const auto& [device, slices, vcpu] = key;
    for (std::uint32_t batch = 1; batch < full; batch *= 2) {
      allowed.push_back({.batch = static_cast<std::uint16_t>(batch), .vcpu = vcpu, .slices = slices, .device = device});
    }
  }
  std::sort(allowed.begin(), allowed.end());  // the order of candidates
  return allowed;
}

class ModelBuilder {
 public:
  ModelBuilder(const Application& application, std::span<const profile::FunctionProfile> profiles,
               const ModelAssumptions& assumptions)
      : application_(application), profiles_(profiles), assumptions_(assumptions) {}

  Result<WorkflowModel> run_stage(const Stage& stage) {
    model_.tree.nodes.push_back({.kind = SeriesParallelTree::Kind::stage, .stage = add_stage(stage, "", {})});
    if (error_) return *error_;
    return std::move(model_);
  }

  Result<WorkflowModel> run() {
    (void)add(application_.workflow, "", {});
    if (error_) return *error_;
    CHECK(model_.tree.root() + 1 == model_.tree.nodes.size());
    return std::move(model_);
  }

 private:
  // Adds the tree and stages of `workflow`, all factors multiplied by `outer`; the position of its root.
  SeriesParallelTree::Index add(const Workflow& workflow, const std::string& prefix, StageScale outer) {
    auto made = Graph::make(workflow);
    const auto* whole = std::get_if<Graph>(&made);
    CHECK(whole != nullptr);  // applications have no cycles
    const std::vector<bool> regular = regular_stages(workflow, *whole);
    std::vector<StageId> kept;
    std::vector<Graph::Node> place(workflow.size());
    for (std::size_t i = 0; i < workflow.size(); ++i) {
      if (!regular[i]) continue;
      place[i] = static_cast<Graph::Node>(kept.size());
      kept.emplace_back(static_cast<StageId::rep>(i));
    }
    std::vector<std::vector<Graph::Node>> before(kept.size());
    std::vector<std::uint32_t> needed(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Stage& stage = workflow.at(kept[i]);
      for (const StageId id : stage.after) {
        if (regular[id.index()]) before[i].push_back(place[id.index()]);
      }
      needed[i] = static_cast<std::uint32_t>(std::min(stage.join.needed(stage.after.size()), before[i].size()));
    }
    auto graph = Graph::make(before);
    const std::vector<double> shares = share_of_requests(workflow, prefix, kept, std::get<Graph>(graph));
    return copy(series_parallel(std::get<Graph>(graph), needed), workflow, {kept, shares}, prefix, outer);
  }

  // How often each stage runs: its own share among the alternatives, times how often any predecessor ran.
  std::vector<double> share_of_requests(const Workflow& workflow, const std::string& prefix,
                                        const std::vector<StageId>& kept, const Graph& graph) const {
    std::map<std::vector<StageId>, std::size_t> alternatives;
    for (const StageId id : kept) {
      if (workflow.at(id).when) ++alternatives[workflow.at(id).after];
    }
    std::vector<double> out(kept.size(), 1);
    for (const Graph::Node node : graph.topological_order()) {
      const Stage& stage = workflow.at(kept[node]);
      double reached = graph.predecessors(node).empty() ? 1 : 0;
      for (const Graph::Node b : graph.predecessors(node)) reached += out[b];
      double own = 1;
      if (stage.when) own = 1.0 / static_cast<double>(std::max<std::size_t>(2, alternatives[stage.after]));
      if (const auto known = assumptions_.shares.find(prefix + stage.name); known != assumptions_.shares.end())
        own = known->second;
      out[node] = std::min(1.0, reached) * own;
    }
    return out;
  }

  // Of the stages of one workflow that are in its tree.
  struct Kept {
    const std::vector<StageId>& stages;
    const std::vector<double>& shares;
  };

  SeriesParallelTree::Index copy(const SeriesParallelTree& from, const Workflow& workflow, const Kept& kept,
                                 const std::string& prefix, StageScale outer) {
    SeriesParallelTree& tree = model_.tree;
    std::vector<SeriesParallelTree::Index> now(from.nodes.size());
    for (std::size_t i = 0; i < from.nodes.size(); ++i) {
      SeriesParallelTree::Node node = from.nodes[i];
      if (node.kind == SeriesParallelTree::Kind::stage) {
        const Stage& stage = workflow.at(kept.stages[node.stage]);
        const StageScale scale{outer.ms, outer.cost * kept.shares[node.stage]};
        if (stage.foreach && !stage.foreach->body.empty()) {
          now[i] = add(stage.foreach->body.front(), str(prefix, stage.name, "/"), fan_out(stage, prefix, scale));
          first_leaf(now[i]).needed = node.needed;  // the body starts when the stage would
          continue;
        }
        node.stage = add_stage(stage, prefix, stage.foreach ? fan_out(stage, prefix, scale) : scale);
      }
      const auto children = from.children_of(from.nodes[i]);
      node.first_child = static_cast<std::uint32_t>(tree.children.size());
      for (const SeriesParallelTree::Index child : children) tree.children.push_back(now[child]);
      node.first_edge = static_cast<std::uint32_t>(tree.edges.size());
      for (const SeriesParallelTree::Edge& edge : from.edges_of(from.nodes[i])) tree.edges.push_back(edge);
      now[i] = static_cast<SeriesParallelTree::Index>(tree.nodes.size());
      tree.nodes.push_back(node);
    }
    return now.back();
  }

  SeriesParallelTree::Node& first_leaf(SeriesParallelTree::Index index) {
    SeriesParallelTree::Node* node = &model_.tree.nodes[index];
    while (node->child_count > 0) node = &model_.tree.nodes[model_.tree.children_of(*node).front()];
    return *node;
  }

  StageScale fan_out(const Stage& stage, const std::string& prefix, StageScale scale) const {
    const auto known = assumptions_.items.find(prefix + stage.name);
    const std::uint32_t items = known == assumptions_.items.end() ? assumptions_.items_default : known->second;
    const StageScale factor = foreach_scale(std::max(1u, items), stage.foreach->limit);
    return {scale.ms * factor.ms, scale.cost * factor.cost};
  }

  std::uint32_t add_stage(const Stage& stage, const std::string& prefix, StageScale scale) {
    ModelStage out{.name = prefix + stage.name, .scale = scale, .wait_ms = stage.wait.to_ms()};
    if (stage.kind == Stage::Kind::run) {
      out.function = stage.function;
      if (stage.function.index() < assumptions_.stragglers.size())
        out.stragglers = assumptions_.stragglers[stage.function.index()];
      const profile::FunctionProfile& profile = profiles_[stage.function.index()];
      const profile::Neighbours neighbours = stage.function.index() < assumptions_.neighbours.size()
                                                 ? assumptions_.neighbours[stage.function.index()]
                                                 : profile::Neighbours();
      std::vector<Configuration> allowed;
      for (const Configuration& c : profile.configurations()) {
        if (stage.configurations.allows(c)) allowed.push_back(c);
      }
      for (const Configuration& c : with_partial_batches(std::move(allowed))) {
        const profile::Latency latency = profile.beside(c, neighbours.share(c.slices));
        out.candidates.push_back(
            {c, latency.mean_ms, profile::cost_per_invocation(c, latency.mean_ms, application_.prices)});
        out.sd_ms.push_back(latency.sd_ms);
      }
      if (out.candidates.empty() && !error_) {
        error_ =
            Error{ErrorCode::invalid, str("stage '", out.name, "': its `configurations` allow none of the profile of '",
                                          application_.function(stage.function).name, "'")};
      }
    } else {
      out.candidates.push_back({configuration(1, 0, 0), 0, 0});
      out.sd_ms.push_back(0);
    }
    model_.stages.push_back(std::move(out));
    return static_cast<std::uint32_t>(model_.stages.size() - 1);
  }

  const Application& application_;
  std::span<const profile::FunctionProfile> profiles_;
  const ModelAssumptions& assumptions_;
  WorkflowModel model_;
  std::optional<Error> error_;
};

}  // namespace

std::size_t WorkflowModel::find(std::string_view name) const {
  const auto it =
      std::find_if(stages.begin(), stages.end(), [&](const ModelStage& stage) { return stage.name == name; });
  return static_cast<std::size_t>(it - stages.begin());
}

std::size_t WorkflowModel::entry() const {
  auto node = tree.root();
  while (tree.nodes[node].kind != SeriesParallelTree::Kind::stage) node = tree.children_of(tree.nodes[node]).front();
  return tree.nodes[node].stage;
}

std::vector<BatchCap> WorkflowModel::batch_caps() const {
  std::set<BatchCap> caps;
  for (const ModelStage& stage : stages) {
    for (const Candidate& candidate : stage.candidates) caps.insert(candidate.configuration.batch);
  }
  return {caps.begin(), caps.end()};
}

Result<WorkflowModel> make_model(const Application& application, std::span<const profile::FunctionProfile> profiles,
                                 const ModelAssumptions& assumptions) {
  return ModelBuilder(application, profiles, assumptions).run();
}

Result<WorkflowModel> make_stage_model(const Application& application,
                                       std::span<const profile::FunctionProfile> profiles, const Stage& stage) {
  const ModelAssumptions assumptions;
  return ModelBuilder(application, profiles, assumptions).run_stage(stage);
}

Result<std::vector<profile::FunctionProfile>> make_profiles(const Application& application) {
  std::vector<profile::FunctionProfile> out;
  for (const Function& function : application.functions) {
    auto made = profile::FunctionProfile::make(function);
    if (!made) return Error{made.error().code, str("function '", function.name, "': ", made.error().message)};
    out.push_back(std::move(made).value());
  }
  return out;
}

}  // namespace sluice::plan
