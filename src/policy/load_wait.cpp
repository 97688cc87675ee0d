#include "policy/load_wait.h"

#include <algorithm>
#include <vector>

#include "policy/loading.h"

namespace sluice::policy {
namespace {

using Tree = SeriesParallelTree;

// How far a request has come along the workflow.
struct Course {
  bool begun = false;        // the stage that it is at now was met; those before it take no time
  double at = 0, waits = 0;  // milliseconds from now, and how many of them it waited for loads
};

// In how many milliseconds something of the function is ready, if its load begins now at the latest.
double ready_in_ms(const View& view, const SharedFunction& function) {
  if (has_ready(view, function)) return 0;
  const Stock stock = stock_of(view, function);
  if (stock.first_ready < Time::max()) return (stock.first_ready - view.now).to_ms();
  return load_ms(view, function, stock.on_host ? Level::host : Level::none, function.level);
}

struct Walk {
  const View& view;
  const SluiceModel& model;
  std::span<const QueueId> stages;
  std::uint32_t first;  // the stage at hand

  // From the start of a part of the workflow to its end.
  [[nodiscard]] Course through(Tree::Index index, Course course) const {
    const Tree& tree = model.model().tree;
    const Tree::Node& node = tree.nodes[index];
    if (node.kind == Tree::Kind::stage) return run(node.stage, course);
    if (node.kind == Tree::Kind::parallel) return join(node.needed, tree.children_of(node), course);
    for (const Tree::Index child : tree.children_of(node)) course = through(child, course);
    return course;
  }

  [[nodiscard]] Course run(std::uint32_t stage, Course course) const {
    course.begun = course.begun || stage == first;
    if (!course.begun || !stages[stage].valid()) return course;  // it was run, or runs nothing
    const double ready = ready_in_ms(view, view.functions[view.queue(stages[stage]).shared.index()]);
    course.waits += std::max(0.0, ready - course.at);
    course.at = std::max(course.at, ready) + model.choices(stage).front().ms;
    return course;
  }

  // When `needed` branches are over. What they waited is how much sooner that were if everything was loaded.
  [[nodiscard]] Course join(std::uint32_t needed, std::span<const Tree::Index> branches, const Course& before) const {
    std::vector<double> ends, ends_if_loaded;
    for (const Tree::Index branch : branches) {
      const Course own = through(branch, before);
      if (own.begun && !before.begun) return own;  // the stage at hand is in this branch
      ends.push_back(own.at);
      ends_if_loaded.push_back(own.at - own.waits);
    }
    std::ranges::sort(ends);
    std::ranges::sort(ends_if_loaded);
    return {before.begun, ends[needed - 1], ends[needed - 1] - ends_if_loaded[needed - 1]};
  }
};

}  // namespace

double load_wait_ms(const View& view, const Queue& queue, const SluiceModel& model, std::span<const QueueId> stages) {
  return Walk{view, model, stages, queue.model_stage}.through(model.model().tree.root(), {}).waits;
}

std::optional<Time> loaded_at(const View& view, const Queue& queue, InvokerId invoker) {
  for (const std::uint32_t slot : view.instances_of(queue.shared)) {
    const Instance& instance = view.instances[slot];
    if (instance.invoker == invoker && instance.unused && !instance.loading()) return instance.idle_since;
  }
  return std::nullopt;
}

}  // namespace sluice::policy
