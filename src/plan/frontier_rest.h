// Rest: what must still happen after the stage at hand, as one frontier for a given deadline. On a chain that is a
// frontier built at deploy; inside parallel regions the siblings are paid for as well, and how fast they must be
// depends on when the region has to end. Used by frontier_planner.h.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/frontier.h"
#include "plan/frontier_tree.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

// How far a request has come, by stage of the model. A decision needs it only inside parallel regions.
struct Progress {
  enum class State : std::uint8_t { waiting, running, done };
  struct Of {
    State state = State::waiting;
    double ms_left = 0;  // running: until it is expected to finish
  };
  std::vector<Of> stages;
};

struct RestChoice {
  bool found = false;
  double ms = 0;  // on the path of the stage at hand
  Dollars cost = 0;
};

class Rest {
 public:
  // Everything after `stage` if all must be over in `budget_ms` from now; false if that is impossible whatever the
  // stage at hand does. Keeps pointers into the model and the tree until the next call.
  [[nodiscard]] bool prepare(const WorkflowModel& model, const FrontierTree& tree, const TreeLinks& links,
                             std::size_t stage, double budget_ms, const Progress* progress);
  // The cheapest rest that takes at most `ms` after the stage at hand.
  [[nodiscard]] RestChoice cheapest(double ms) const;
  // The stages of the cheapest rest when the stage at hand takes `ms` of the budget.
  void collect(const WorkflowModel& model, double ms, std::vector<ChosenStage>& out) const;

 private:
  using Index = SeriesParallelTree::Index;
  // One ancestor of the stage at hand, from the root down. `after` is in terms of the time needed once the ancestor's
  // child on the way to the stage has finished: its points are (that time, cost of all that is then still to pay).
  struct Level {
    Index node = 0;
    std::uint32_t child = 0;               // which child leads to the stage
    const Frontier* after_node = nullptr;  // the same for the ancestor itself
    Frontier own;                          // where it had to be made
    const Frontier* after = nullptr;       // own, or a frontier of the tree
    std::vector<Frontier> begun;           // siblings as they are now, where they have begun
    std::vector<const Frontier*> siblings;
    std::vector<bool> done;  // irregular: parts that came before the stage at hand
  };

  void push(Index node, std::uint32_t child);
  [[nodiscard]] bool through_series(Level& level, bool innermost);
  [[nodiscard]] bool through_parallel(Level& level, const Progress* progress);
  [[nodiscard]] bool through_irregular(Level& level, const Progress* progress);
  void find_siblings(Level& level, const Progress* progress) const;
  void collect_parallel(const WorkflowModel& model, const Level& level, const Frontier::Point& point,
                        std::vector<ChosenStage>& out) const;
  void collect_irregular(const WorkflowModel& model, const Level& level, const Frontier::Point& point,
                         std::vector<ChosenStage>& out) const;

  const WorkflowModel* model_ = nullptr;
  const FrontierTree* tree_ = nullptr;
  double budget_ms_ = 0;
  Frontier end_ = nothing_to_do();
  std::vector<Level> levels_;  // from the root down; the first depth_ are in use
  std::size_t depth_ = 0;
  // The innermost series is not multiplied out: `then_` follows `first_`.
  const Frontier* first_ = nullptr;
  const Frontier* then_ = nullptr;
};

// The least time from the start of `stage` to the end of the workflow; siblings start with it. Infinity if impossible.
[[nodiscard]] double fastest_from(const WorkflowModel& model, const FrontierTree& tree, const TreeLinks& links,
                                  std::size_t stage);

// The frontier of what is left of a part of the workflow. REQUIRES: progress has an entry for every stage.
[[nodiscard]] Frontier remaining(const WorkflowModel& model, const FrontierTree& tree, SeriesParallelTree::Index node,
                                 const Progress& progress);

}  // namespace sluice::plan
