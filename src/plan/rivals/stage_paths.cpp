#include "plan/rivals/stage_paths.h"

#include <utility>

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;
using Node = SeriesParallelTree::Node;
using Paths = std::vector<StagePath>;

// Every path of `first` followed by every path of `then`. One by one is the common case and copies nothing.
Paths followed_by(Paths first, const Paths& then) {
  if (then.size() == 1) {
    for (StagePath& path : first) path.insert(path.end(), then[0].begin(), then[0].end());
    return first;
  }
  Paths out;
  for (const StagePath& a : first) {
    for (const StagePath& b : then) {
      out.push_back(a);
      out.back().insert(out.back().end(), b.begin(), b.end());
    }
  }
  return out;
}

class Lister {
 public:
  Lister(const SeriesParallelTree& tree, std::size_t paths_max)
      : tree_(tree), paths_max_(paths_max), of_(tree.nodes.size()) {}

  // Children come before their parents, so one walk does; paths of children are used up.
  std::optional<Paths> run() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (!list(tree_.nodes[i], of_[i])) return std::nullopt;
    }
    return std::move(of_.back());
  }

 private:
  // False if there are too many.
  bool list(const Node& node, Paths& out) {
    switch (node.kind) {
      case Kind::stage:
        out = {{node.stage}};
        return true;
      case Kind::empty:
        out = {{}};
        return true;
      case Kind::series:
        out = {{}};
        for (const auto child : tree_.children_of(node)) {
          if (out.size() * of_[child].size() > paths_max_) return false;
          out = followed_by(std::move(out), of_[child]);
        }
        return true;
      case Kind::parallel:
        for (const auto child : tree_.children_of(node)) add(of_[child], out);
        return out.size() <= paths_max_;
      case Kind::irregular:
        return list_irregular(node, out);
    }
    return false;
  }

  bool list_irregular(const Node& node, Paths& out) {
    const auto children = tree_.children_of(node);
    std::vector<Paths> until(children.size());  // the end of each child
    std::vector<bool> goes_on(children.size());
    for (std::size_t i = 0; i < children.size(); ++i) {
      Paths before;
      for (const SeriesParallelTree::Edge& edge : tree_.edges_of(node)) {
        if (edge.to == i) add(until[edge.from], before);
        if (edge.from == i) goes_on[i] = true;
      }
      if (before.empty()) before = {{}};
      if (before.size() * of_[children[i]].size() > paths_max_) return false;
      until[i] = followed_by(std::move(before), of_[children[i]]);
      if (!goes_on[i]) add(until[i], out);
    }
    return out.size() <= paths_max_;
  }

  static void add(const Paths& from, Paths& to) { to.insert(to.end(), from.begin(), from.end()); }

  const SeriesParallelTree& tree_;
  std::size_t paths_max_;
  std::vector<Paths> of_;  // by node
};

}  // namespace

std::optional<std::vector<StagePath>> stage_paths(const SeriesParallelTree& tree, std::size_t paths_max) {
  return Lister(tree, paths_max).run();
}

}  // namespace sluice::plan
