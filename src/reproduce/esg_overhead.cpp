#include "reproduce/esg_overhead.h"

#include <algorithm>

#include "plan/rivals/brute_force.h"
#include "plan/rivals/esg_1q.h"
#include "plan/workflow_model.h"
#include "reproduce/esg_paper.h"
#include "sim/rules.h"

namespace sluice::reproduce {
namespace {

constexpr int kTimes = 3;  // the median of

double median_us(const Means& means, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < kTimes; ++i) times.push_back(means.time_us(work));
  std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
  return times[kTimes / 2];
}

Row timed(const std::string& setting, const char* searcher, double paper_ms, double us) {
  Row row{"overhead", setting, searcher, "full_queue_search_us"};
  row.paper = paper_ms * 1e3;
  row.mark = Mark::stated;
  row.ours = us;
  return row;
}

}  // namespace

std::vector<Row> search_times(const Experiment& evaluation, const Means& means) {
  std::vector<Row> out;
  if (!means.time_us) return out;
  const Application& application = evaluation.applications.front();
  const auto profiles = plan::make_profiles(application);
  if (!profiles) return out;
  const auto model = plan::make_model(application, *profiles);
  if (!model) return out;
  std::vector<plan::Candidates> stages;
  for (const plan::ModelStage& stage : model->stages) stages.push_back(stage.candidates);
  const plan::SortedStages sorted(stages, plan::kNoBatchCap, plan::SortedStages::Keep::all);
  plan::SearchWorkspace workspace;
  for (const Slo slo : kSlos) {
    Experiment at = evaluation;
    at.slo_scale = scale_of(slo);
    const double budget_ms = sim::objective_of(at, application, *model).to_ms();
    const double esg = median_us(means, [&] { (void)plan::esg_1q(sorted, {.budget_ms = budget_ms}, workspace); });
    const double brute = median_us(means, [&] { (void)plan::brute_force({stages, budget_ms}, 5); });
    out.push_back(timed(std::string(name_of(slo)), "esg", kOverheadMs, esg));
    out.push_back(timed(std::string(name_of(slo)), "brute-force", kBruteForceMs, brute));
  }
  return out;
}

}  // namespace sluice::reproduce
