#include "policy/wait_rules.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace sluice::policy {
namespace {

// The rates that rules are made for, per ms: each a tenth more than the one before.
constexpr auto kRates = [] {
  std::array<double, 201> out{1e-6};
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = out[i - 1] * 1.1;
  return out;
}();

}  // namespace

const BatchWait& WaitRules::rule(const Queue& queue, const SluiceModel& model, double rate, TableBill& bill) {
  if (rules_.size() <= queue.id.index()) rules_.resize(queue.id.index() + 1);
  OfQueue& rules = rules_[queue.id.index()];
  if (rules.model.get() != &model) rules = {model.shared_from_this(), {}};
  const auto rounded = std::lower_bound(kRates.begin(), std::prev(kRates.end()), rate);
  const auto step = static_cast<std::size_t>(rounded - kRates.begin());
  if (rules.by_step.size() <= step) rules.by_step.resize(step + 1);
  auto& rule = rules.by_step[step];
  if (rule == nullptr) {
    rule = std::make_unique<BatchWait>(model.table(), queue.model_stage, model.horizon_ms(), *rounded,
                                       model.model().batch_caps());
  }
  bill.rule(queue.id, model.level(), step, rule->build_expansions());
  return *rule;
}

void WaitRules::forget(QueueId queue) {
  if (queue.index() < rules_.size()) rules_[queue.index()] = {};
}

}  // namespace sluice::policy
