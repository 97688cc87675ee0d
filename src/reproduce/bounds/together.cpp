#include "reproduce/bounds/together.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "plan/frontier_planner.h"
#include "plan/value_table.h"

namespace sluice::reproduce {
namespace {

// What one member of a group pays: by the size of the group and the time its oldest has left when the last has come.
using MemberCost = std::function<Dollars(plan::BatchCap size, double left_ms)>;

// The cheapest split of arrivals into groups of consecutive ones; of those from `first` on only.
Dollars grouped(const std::vector<double>& arrivals, const std::vector<plan::BatchCap>& sizes, double objective_ms,
                const MemberCost& cost) {
  std::vector<Dollars> best(arrivals.size() + 1, std::numeric_limits<double>::infinity());
  best[0] = 0;
  for (std::size_t end = 1; end <= arrivals.size(); ++end) {
    for (const plan::BatchCap size : sizes) {
      if (size > end) break;
      const double left = objective_ms - (arrivals[end - 1] - arrivals[end - size]);
      if (left < 0) break;
      best[end] = std::min(best[end], best[end - size] + size * cost(size, left));
    }
  }
  return best.back();
}

// An application with the spread that the experiment draws, not what profiles believe, and with transfer.
plan::WorkflowModel true_model(const Offered& offered, std::size_t application) {
  plan::WorkflowModel model = offered.models[application];
  for (std::size_t s = 0; s < offered.chains[application].size(); ++s) {
    const OfferedStage& at = offered.chains[application][s];
    const OfferedFunction& function = offered.functions[at.function];
    plan::ModelStage& stage = model.stages[at.id];
    stage.sd_ms.clear();
    for (plan::Candidate& c : stage.candidates) {
      stage.sd_ms.push_back(offered.sigma * c.ms);
      const double transfer = s == 0 ? 0 : function.transfer_ms(c.configuration.batch);
      if (offered.bills_transfer) c.cost *= 1 + transfer / c.ms;
      c.ms += transfer;
    }
  }
  return model;
}

}  // namespace

Together together(const Offered& offered, Dollars miss_price) {
  Together out;
  for (std::size_t a = 0; a < offered.models.size(); ++a) {
    std::vector<double> arrivals;
    for (std::size_t r = offered.warmup; r < offered.requests.size(); ++r) {
      if (offered.requests[r].application == a) arrivals.push_back(offered.requests[r].at_ms);
    }
    out.requests += arrivals.size();
    const plan::WorkflowModel model = true_model(offered, a);
    const std::vector<plan::BatchCap> sizes = model.batch_caps();
    const double objective = offered.objective_ms[a];
    const std::size_t first = offered.chains[a].front().id;
    const plan::FrontierPlanner planner(model);
    const auto planned = [&](plan::BatchCap size, double left) {
      const auto points = planner.whole(size).points();  // by time, costs falling
      const auto beyond =
          std::upper_bound(points.begin(), points.end(), left, [](double ms, const auto& p) { return ms < p.ms; });
      return beyond == points.begin() ? miss_price : std::min(miss_price, (beyond - 1)->cost);
    };
    const auto table = plan::ValueTable::build(model, {.miss_price = miss_price, .horizon_ms = objective});
    const auto expected = [&](plan::BatchCap size, double left) { return table.value(first, size, left); };
    out.planned += grouped(arrivals, sizes, objective, planned);
    out.expected += grouped(arrivals, sizes, objective, expected);
  }
  return out;
}

}  // namespace sluice::reproduce
