#include "policy/wait_rules.h"

namespace sluice::policy {
namespace {

constexpr double kRateLeast = 1e-6, kRateStep = 1.1;  // per ms; of one step to the one before
constexpr std::size_t kRateSteps = 200;

}  // namespace

const BatchWait& WaitRules::rule(const Queue& queue, const SluiceModel& model, double rate, TableBill& bill) {
  if (rules_.size() <= queue.id.index()) rules_.resize(queue.id.index() + 1);
  OfQueue& rules = rules_[queue.id.index()];
  if (rules.model.get() != &model) rules = {model.shared_from_this(), {}};
  std::size_t step = 0;
  double rounded = kRateLeast;
  for (; rounded < rate && step < kRateSteps; ++step) rounded *= kRateStep;
  if (rules.by_step.size() <= step) rules.by_step.resize(step + 1);
  auto& rule = rules.by_step[step];
  if (rule == nullptr) {
    rule = std::make_unique<BatchWait>(model.table(), queue.model_stage, model.horizon_ms(), rounded,
                                       model.model().batch_caps());
  }
  bill.rule(queue.id, model.level(), step, rule->build_expansions());
  return *rule;
}

void WaitRules::forget(QueueId queue) {
  if (queue.index() < rules_.size()) rules_[queue.index()] = {};
}

}  // namespace sluice::policy
