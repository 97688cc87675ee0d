// ValueTable: what the rest of a workflow is worth. V(stage, time left) is the least expected cost from that stage on,
// where missing the deadline costs `miss_price` once and giving up, which is always possible, costs `drop_price`, so V
// never exceeds it. Where being late is cheaper than giving up, what is late still has to be run to its end. Built
// once per deploy and profile change, like the frontiers of frontier_planner.h, and for the same batch caps; asked by
// policies: "is it hopeless", "what is waiting worth" and "what is this fallback worth" in one currency.
//
// Chains are exact up to the grid (linear between its points). A parallel region is given a fixed time: a branch that
// is later counts as a miss, one that is earlier waits; the best such time is taken, so that the region is never better
// than planned. An irregular region counts as its levels one after the other.
// Known caveats: inside a branch the siblings are taken to finish no later than the branch itself. Joins of fewer than
// all branches inside irregular regions wait for all. Noise of different stages is independent.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/money.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

struct ValueOptions {
  Dollars miss_price = 0;            // > 0: of being late
  Dollars drop_price = 0;            // ≥ miss_price: of giving up; 0: the same
  double horizon_ms = 0;             // > 0: the objective; more time left than this is worth no more
  double step_ms = 0;                // of the grid; 0: horizon_ms / 512. Larger workflows get a coarser one (step_ms())
  double sigma_floor = 0;            // the least relative standard deviation to plan with
  double per_stage_overhead_ms = 0;  // queueing and transfer, for every stage but the one at hand
};

class ValueTable {
 public:
  // Whether the tables of a workflow stay within memory at all: a thousand stages of 256 candidates do.
  [[nodiscard]] static bool fits(const WorkflowModel& model);
  // REQUIRES: fits(model).
  [[nodiscard]] static ValueTable build(const WorkflowModel& model, const ValueOptions& options);

  // The rest from `stage` on, itself included. `cap` bounds the batch of this and of later stages. Does not rise with
  // remaining_ms nor with cap; below 0 the miss price and the cheapest way to the end, or giving up.
  [[nodiscard]] Dollars value(std::size_t stage, BatchCap cap, double remaining_ms) const;
  // The rest after `stage` has finished.
  [[nodiscard]] Dollars after(std::size_t stage, BatchCap cap, double remaining_ms) const;
  // Running costs at least as much as giving up.
  [[nodiscard]] bool hopeless(std::size_t stage, BatchCap cap, double remaining_ms) const;

  // One decision: what each candidate of a stage comes to. Valid as long as the table.
  class Decision {
   public:
    // Running the candidate now and the best afterwards; may exceed the miss price. REQUIRES: its batch ≤ cap.
    [[nodiscard]] Dollars expected(std::uint32_t candidate) const {
      const Entry entry = entries_[candidate];
      if (entry.row == kHopeless) return entry.cost + late_;
      return entry.cost + low_[entry.row] + (high_[entry.row] - low_[entry.row]) * fraction_;
    }

   private:
    friend class ValueTable;
    friend class ValueBuilder;
    struct Entry {
      double cost;
      std::uint32_t row;
    };
    static constexpr std::uint32_t kHopeless = 0xFFFFFFFFu;  // too slow for the horizon
    const Entry* entries_ = nullptr;
    const float* low_ = nullptr;  // of every row, at the points of the grid below and above
    const float* high_ = nullptr;
    float fraction_ = 0;
    Dollars late_ = 0;  // what follows once the deadline has passed
  };
  [[nodiscard]] Decision decide(std::size_t stage, BatchCap cap, double remaining_ms) const;
  [[nodiscard]] Dollars expected(std::size_t stage, std::uint32_t candidate, BatchCap cap, double remaining_ms) const {
    return decide(stage, cap, remaining_ms).expected(candidate);
  }

  [[nodiscard]] Dollars drop_price() const { return drop_price_; }
  [[nodiscard]] double step_ms() const { return step_ms_; }
  [[nodiscard]] std::size_t bytes() const;
  // What building took: products of a weight of the noise and a point of the grid.
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  friend class ValueBuilder;
  struct Curve {
    std::vector<float> at;  // a value per point of the grid
    float late = 0;         // below the first: the deadline has passed
  };
  // Candidates that take equally long share a row: what follows depends on their time only. Rows are sorted by batch,
  // so that those within a cap come first, and stored by point of the grid, so that one decision reads two short
  // stretches of memory. Measured on ESG's applications: 3 ns a candidate, where 15 lookups of after() take 170.
  struct Level {  // one cap
    Curve value, after;
    std::uint32_t rows = 0;
    std::vector<float> cells;
    std::vector<float> late;  // a row of after.late
  };
  struct Stage {
    std::vector<Decision::Entry> entries;  // by candidate
    std::vector<Level> levels;             // by cap
  };
  struct Place {  // on the grid
    std::size_t point = 0;
    float fraction = 0;
  };
  [[nodiscard]] Place place(double remaining_ms) const;
  [[nodiscard]] const Level* level(std::size_t stage, BatchCap cap) const;  // nullptr: below the smallest batch
  [[nodiscard]] Dollars on(const Curve& curve, double remaining_ms) const;

  Dollars drop_price_ = 0;
  double step_ms_ = 1;
  std::size_t steps_ = 1;  // points of the grid - 1
  std::vector<BatchCap> caps_;
  std::vector<Stage> stages_;
  std::uint64_t work_ = 0;
};

}  // namespace sluice::plan
