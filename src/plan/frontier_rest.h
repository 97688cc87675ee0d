// Rest: what must still happen after the stage at hand, as one frontier for a given deadline. On a chain that is a
// frontier built at deploy; inside parallel regions the siblings are paid for as well, and how fast they must be
// depends on when the region has to end. Siblings count as if they began with it. Used by frontier_planner.h.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "plan/frontier.h"
#include "plan/frontier_sums.h"
#include "plan/frontier_tree.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

class Rest {
 public:
  using Point = Frontier::Point;
  // Everything after `stage` if all must be over in `budget_ms` from now; false if that is impossible whatever the
  // stage at hand does. Keeps pointers into the model and the tree until the next call.
  [[nodiscard]] bool prepare(const WorkflowModel& model, const FrontierTree& tree, const TreeLinks& links,
                             std::size_t stage, double budget_ms);
  [[nodiscard]] double budget_ms() const { return budget_ms_; }
  // Like a frontier: the time needed once the stage at hand has finished (minus infinity if nobody waits for it), and
  // the cost of all that is then still to pay. Points that the deadline rules out are left out.
  [[nodiscard]] std::span<const Point> after() const { return after_; }
  // The time on the path of the stage at hand behind a point of after().
  [[nodiscard]] double path_ms(std::size_t point) const;
  // How much dearer than the best a point of after() may be because factors had too many points, beyond the errors of
  // the frontiers it is made from. Not counted: what irregular regions add.
  [[nodiscard]] double error() const { return error_; }
  // The stages behind a point of after().
  void collect(const WorkflowModel& model, std::size_t point, std::vector<ChosenStage>& out) const;

 private:
  using Index = SeriesParallelTree::Index;
  static constexpr double kNotWaitedFor = -std::numeric_limits<double>::infinity();
  // One ancestor of the stage at hand.
  struct Level {
    enum class From : std::uint8_t { suffix, after_node, made };
    Index node = 0;
    std::uint32_t child = 0;            // which child leads to the stage
    double earliest_ms = 0;             // no plan has that child finish before, counted from now
    const Frontier* suffix = nullptr;   // of a series: the children after that one
    std::span<const Point> after_node;  // what is left once the ancestor has finished
    std::span<const Point> after;       // what is left once that child has finished
    From from = From::made;             // where `after` is
    // Of a series: left and right are points of suffix and after_node. Else left is a point of after_node; right: 1 if
    // nobody waits for the child (parallel), or a point of the region (irregular).
    std::vector<Point> made;
    std::vector<const Frontier*> siblings;
    std::vector<bool> done;  // irregular: parts that came before the stage at hand
  };

  [[nodiscard]] bool climb(const TreeLinks& links, std::size_t stage);
  [[nodiscard]] bool through(Level& level);
  [[nodiscard]] bool through_series(Level& level);
  [[nodiscard]] bool through_parallel(Level& level);
  [[nodiscard]] bool through_irregular(Level& level);
  [[nodiscard]] std::span<const Point> in_time(std::span<const Point> points, double before_ms) const;
  void find_siblings(Level& level) const;
  void add_up_siblings(const Level& level, std::size_t needed, std::vector<Dollars>& costs);
  void pick_factors(std::span<const Point> first, std::span<const Point> then);
  void collect_parallel(const WorkflowModel& model, const Level& level, const Point& point,
                        std::vector<ChosenStage>& out) const;
  void collect_irregular(const WorkflowModel& model, const Level& level, const Point& point,
                         std::vector<ChosenStage>& out) const;

  const WorkflowModel* model_ = nullptr;
  const FrontierTree* tree_ = nullptr;
  double budget_ms_ = 0;
  double error_ = 0;
  Frontier end_ = nothing_to_do();
  std::vector<Level> levels_;  // from the stage up; the first depth_ are in use
  std::size_t depth_ = 0;
  std::span<const Point> after_;
  // Scratch.
  FrontierSums sums_;
  std::vector<Point> first_, then_;
  std::vector<Dollars> costs_, surcharges_;
};

}  // namespace sluice::plan
