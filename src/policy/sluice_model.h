// What `sluice` derives from an application once: value tables, the configurations worth looking at, and what a request
// takes. Never saved: a pure function of the planner and the objective.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/value_table.h"
#include "policy/sluice_state.h"
#include "policy/view.h"

namespace sluice::policy {

struct SluiceOptions {
  Dollars miss_price = 0.0025;  // what a missed request is worth avoiding
  double sigma = 0.05;          // the least relative spread to plan with, even when times seem exact
  double reserve_ms = 3;        // for transfer and queueing, of every stage but the one at hand
};

// One configuration of a stage that no other of the same batch beats in time, cost and what it takes.
struct Choice {
  std::uint32_t candidate = 0;
  Configuration configuration;
  double ms = 0;
  Dollars per_ms = 0;  // of holding it, per invocation
};

class SluiceModel {
 public:
  // REQUIRES: plan::ValueTable::fits(planner->model()).
  SluiceModel(std::shared_ptr<const plan::FrontierPlanner> planner, double horizon_ms, const SluiceOptions& options,
              const Prices& prices);

  [[nodiscard]] const plan::ValueTable& table() const { return table_; }
  [[nodiscard]] double horizon_ms() const { return horizon_ms_; }
  // By batch, ascending; then by slices and vCPUs.
  [[nodiscard]] const std::vector<Choice>& choices(std::uint32_t stage) const { return choices_[stage]; }
  // What one invocation of the stage would be run with; nullptr: nothing runs one alone.
  [[nodiscard]] const Choice* cheapest_alone(std::uint32_t stage, double left_ms) const;
  // How many stages follow one after the other.
  [[nodiscard]] std::uint32_t stages_after(std::uint32_t stage) const { return after_[stage]; }
  // The stage that comes next, in the first branch where there are several; none after the last.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t stage) const { return next_[stage]; }
  // Milliseconds that one invocation of the stage takes when requests are planned one at a time.
  [[nodiscard]] const Taken& taken_ms(std::uint32_t stage) const { return taken_ms_[stage]; }

 private:
  std::shared_ptr<const plan::FrontierPlanner> planner_;
  double horizon_ms_;
  plan::ValueTable table_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<Taken> taken_ms_;
  std::vector<std::uint32_t> after_;
  std::vector<std::optional<std::uint32_t>> next_;
};

}  // namespace sluice::policy
