// What `sluice` derives from an application once: value tables, the configurations worth looking at, and what a request
// takes. Never saved: a pure function of the model, the objective and the kinds of machines there are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/value_table.h"
#include "policy/sluice_state.h"
#include "policy/view.h"

namespace sluice::policy {

struct SluiceOptions {
  double miss_times = 12;  // what a missed request is worth avoiding, in cheapest plans of the application
  double sigma = 0.05;     // the least relative spread to plan with, even when times seem exact
  double reserve_ms = 3;   // for transfer and queueing, of every stage but the one at hand
};

// One configuration of a stage that no other of the same batch beats in time, cost and what it takes.
struct Choice {
  std::uint32_t candidate = 0;
  Configuration configuration;
  double ms = 0;
  Dollars per_ms = 0;  // of holding it, per invocation
};

// Which of the models of an application.
struct ModelKind {
  static constexpr std::uint32_t kStretches = 4;
  static constexpr double kStretch = 4;
  std::uint32_t level = 0;    // of the price of being late (miss_price.h)
  std::uint32_t stretch = 0;  // it looks kStretch^stretch objectives ahead: for callers who have more time
  [[nodiscard]] std::uint32_t number() const { return level * kStretches + stretch; }
};

// A number for all that the models of a workflow are made from: the same where the same is believed. Never 0.
[[nodiscard]] std::uint64_t content_of(const plan::WorkflowModel& model, const std::vector<NodeGroup>& machines);

// What a request costs at the least, in full batches of the cheapest configurations.
[[nodiscard]] Dollars least_cost(const plan::WorkflowModel& model);

class SluiceModel : public std::enable_shared_from_this<SluiceModel> {
 public:
  // `machines`: configurations that none of them holds are left out. REQUIRES:
  // plan::ValueTable::fits(*whole).
  SluiceModel(std::shared_ptr<const plan::WorkflowModel> whole, const Application& application,
              std::span<const NodeGroup> machines, ModelKind kind, const SluiceOptions& options);

  [[nodiscard]] const plan::WorkflowModel& model() const { return restricted_ ? *restricted_ : *whole_; }
  [[nodiscard]] const plan::ValueTable& table() const { return table_; }
  [[nodiscard]] double horizon_ms() const { return horizon_ms_; }
  [[nodiscard]] std::uint32_t level() const { return level_; }
  // What making it took, in expansions of ESG_1Q (table_bill.h).
  [[nodiscard]] std::uint64_t build_expansions() const { return build_expansions_; }
  // By batch, ascending; then by slices and vCPUs.
  [[nodiscard]] const std::vector<Choice>& choices(std::uint32_t stage) const { return choices_[stage]; }
  // What a request is worth at the most: dearer ones are given up.
  [[nodiscard]] Dollars drop_price() const { return table_.drop_price(); }
  // What one invocation of the stage would be run with; nullptr: nothing runs one alone.
  [[nodiscard]] const Choice* cheapest_alone(std::uint32_t stage, double left_ms) const;
  // Whether several stages of a request may wait at once.
  [[nodiscard]] bool has_branches() const { return has_branches_; }
  // How many stages follow one after the other.
  [[nodiscard]] std::uint32_t stages_after(std::uint32_t stage) const { return after_[stage]; }
  // The stage that comes next, in the first branch where there are several; none after the last.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t stage) const { return next_[stage]; }
  // What an invocation of the stage adds to the cost of its request, with all items of a fan-out.
  [[nodiscard]] Dollars cost_of(std::uint32_t stage, const Choice& choice) const {
    return choice.per_ms * choice.ms * std::max(1.0, model().stages[stage].scale.cost);
  }
  // The least that all stages add which may still be to come when this one starts.
  [[nodiscard]] Dollars to_come(std::uint32_t stage) const { return to_come_[stage]; }
  // Milliseconds that one invocation of the stage takes when requests are planned one at a time.
  [[nodiscard]] const Taken& taken_ms(std::uint32_t stage) const { return taken_ms_[stage]; }

 private:
  std::shared_ptr<const plan::WorkflowModel> whole_;
  std::optional<plan::WorkflowModel> restricted_;  // absent: the whole is as good
  std::uint32_t level_;
  double horizon_ms_;
  plan::ValueTable table_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<Taken> taken_ms_;
  std::vector<Dollars> to_come_;
  std::vector<std::uint32_t> after_;
  std::vector<std::optional<std::uint32_t>> next_;
  std::uint64_t build_expansions_ = 0;
  bool has_branches_ = false;
};

}  // namespace sluice::policy
