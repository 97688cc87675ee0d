// FrontierTree: the frontiers of every part of a workflow for one batch cap. Built once of a model; frontier_planner.h
// asks it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/frontier.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

// Where the nodes of a tree hang: the same for every batch cap.
struct TreeLinks {
  using Index = SeriesParallelTree::Index;
  explicit TreeLinks(const WorkflowModel& model);
  std::vector<Index> parent;            // of a node; the root's is itself
  std::vector<std::uint32_t> position;  // of a node among its parent's children
  std::vector<Index> leaf;              // of a stage
};

struct ChosenStage {
  std::size_t stage = 0;        // of the model
  std::uint32_t candidate = 0;  // of the stage
};

class FrontierTree {
 public:
  using Index = SeriesParallelTree::Index;
  FrontierTree(const WorkflowModel& model, BatchCap cap, std::size_t points_max);

  [[nodiscard]] BatchCap cap() const { return cap_; }
  // Empty if some stage of the part has no candidate within the cap.
  [[nodiscard]] const Frontier& of(const WorkflowModel& model, Index node) const;
  // Of a series: its children from the `from`-th on; past the last there is nothing to do.
  [[nodiscard]] const Frontier& suffix(const WorkflowModel& model, Index series, std::size_t from) const;
  // Of an irregular region: the point of each child behind one of its points.
  [[nodiscard]] std::span<const std::uint32_t> choices(const WorkflowModel& model, Index irregular,
                                                       std::size_t point) const;

  // The stages behind a point, in the order of the tree.
  void collect(const WorkflowModel& model, Index node, std::size_t point, std::vector<ChosenStage>& out) const;
  void collect_suffix(const WorkflowModel& model, Index series, std::size_t from, std::size_t point,
                      std::vector<ChosenStage>& out) const;

  [[nodiscard]] std::size_t points() const;

 private:
  // REQUIRES: those of its children are built.
  [[nodiscard]] Frontier build(const WorkflowModel& model, Index node);
  void build_series(const WorkflowModel& model, Index node);
  [[nodiscard]] std::vector<const Frontier*> children(const WorkflowModel& model, Index node) const;

  BatchCap cap_;
  std::size_t points_max_;
  Frontier nothing_;
  std::vector<Frontier> nodes_;                      // all kinds but series
  std::vector<std::vector<Frontier>> suffixes_;      // series: all but the last suffix, which is the last child
  std::vector<std::vector<std::uint32_t>> choices_;  // irregular
};

}  // namespace sluice::plan
