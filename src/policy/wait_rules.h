// WaitRules: the rules for waiting (batch_wait.h) of every queue, made when first asked for. Rates within a step are
// the same to a rule, so that a rate that moves a little does not have its rule made again. Derived, never saved.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "policy/batch_wait.h"
#include "policy/sluice_model.h"
#include "policy/table_bill.h"
#include "policy/view.h"

namespace sluice::policy {

class WaitRules {
 public:
  // For arrivals at `rate` per ms; what is built goes on the bill. REQUIRES: a shared_ptr holds the model.
  [[nodiscard]] const BatchWait& rule(const Queue& queue, const SluiceModel& model, double rate, TableBill& bill);
  void forget(QueueId queue);
  void clear() { rules_.clear(); }

 private:
  struct OfQueue {
    std::shared_ptr<const SluiceModel> model;         // held, so that another one cannot have its address
    std::vector<std::unique_ptr<BatchWait>> by_step;  // of the rate
  };
  std::vector<OfQueue> rules_;  // by QueueId
};

}  // namespace sluice::policy
