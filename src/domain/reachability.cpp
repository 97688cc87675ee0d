#include "domain/reachability.h"

#include <algorithm>
#include <cstdint>

namespace sluice {

std::vector<bool> reaches(const Graph& graph, std::span<const ReachQuestion> questions) {
  std::vector<std::size_t> order(questions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return questions[a].from < questions[b].from; });

  std::vector<bool> answers(questions.size());
  std::vector<std::uint64_t> reached(graph.size());  // bit k: a path leads from the k-th source of this pass
  for (std::size_t begin = 0; begin < order.size();) {
    std::fill(reached.begin(), reached.end(), 0);
    std::vector<Graph::Node> sources;
    std::size_t end = begin;
    for (; end < order.size(); ++end) {
      const Graph::Node from = questions[order[end]].from;
      if (!sources.empty() && sources.back() == from) continue;
      if (sources.size() == 64) break;
      sources.push_back(from);
    }
    const auto bit_of = [&](Graph::Node node) -> std::uint64_t {
      const auto it = std::lower_bound(sources.begin(), sources.end(), node);
      return it != sources.end() && *it == node ? std::uint64_t{1} << (it - sources.begin()) : 0;
    };
    for (const Graph::Node node : graph.topological_order()) {
      for (const Graph::Node before : graph.predecessors(node)) reached[node] |= reached[before] | bit_of(before);
    }
    for (; begin < end; ++begin) {
      const ReachQuestion& question = questions[order[begin]];
      answers[order[begin]] = (reached[question.to] & bit_of(question.from)) != 0;
    }
  }
  return answers;
}

}  // namespace sluice
