#include "live/batch_counts.h"

#include <algorithm>

#include "domain/event_parts.h"
#include "domain/run_path.h"

namespace sluice::live {
namespace {

void add(Counted& counted, std::uint64_t count, Duration time) {
  counted.count += count;
  counted.ns += static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count_ns()));
}

ModelStats::OfBatch& of_size(std::vector<ModelStats::OfBatch>& batches, std::uint32_t size) {
  auto at = std::find_if(batches.begin(), batches.end(), [&](const auto& b) { return b.size >= size; });
  if (at == batches.end() || at->size != size) at = batches.insert(at, {size, {}});
  return *at;
}

// A batch in which something succeeded.
struct Ran {
  std::uint64_t inferences = 0;  // members that succeeded
  std::uint32_t members = 0;
  Duration waited;  // all of them together
  Duration prepared, measured;
};

// What a request is charged for the batches it was in: the whole time of each.
void add_times(ModelStats& stats, const Ran& ran) {
  const auto times = static_cast<double>(ran.inferences);
  add(stats.queue, 0, ran.waited);
  add(stats.compute_input, 0, ran.prepared * times);
  add(stats.compute_infer, 0, ran.measured * times);
}

void count_function(ModelStats& stats, const Ran& ran, Time now) {
  add_times(stats, ran);
  for (Counted* counted : {&stats.queue, &stats.compute_input, &stats.compute_infer, &stats.compute_output})
    counted->count += ran.inferences;
  stats.inferences += ran.inferences;
  ++stats.executions;
  stats.last_inference_ms = now.count_ns() / 1'000'000;
  add(of_size(stats.batches, ran.members).infer, 1, ran.measured);
}

}  // namespace

void BatchCounts::started(const StartBatch& batch, Time now) {
  const BatchMember& oldest = batch.members.front();
  Batch& known = under_way_[batch.id];
  const auto members = static_cast<std::uint32_t>(batch.members.size());
  known = {batch.application, oldest.path, oldest.stage, batch.function, members, {}};
  for (const BatchMember& member : batch.members) known.waited += now - member.ready;
}

void BatchCounts::finished(const BatchFinished& event, Time now, Directory& directory) {
  const auto it = under_way_.find(event.id);
  if (it == under_way_.end()) return;
  count(directory, it->second, event, now);
  under_way_.erase(it);
}

void BatchCounts::count(Directory& directory, const Batch& batch, const BatchFinished& event, Time now) {
  Installed& installed = directory[batch.application];
  count_stage(installed, batch, event.measured);
  const auto good = std::ranges::count(event.results, Outcome::succeeded, &InvocationResult::outcome);
  if (good == 0) return;
  const Ran ran{.inferences = static_cast<std::uint64_t>(good),
                .members = batch.members,
                .waited = batch.waited,
                .prepared = event.held - event.measured,
                .measured = event.measured};
  if (installed.is_function) return count_function(installed.stats, ran, now);
  add_times(installed.stats, ran);
  if (batch.function.index() >= installed.functions.size()) return;  // deployed without functions to call alone
  ModelStats& function = directory[installed.functions[batch.function.index()]].stats;
  count_function(function, ran, now);
  // Called alone it is counted when the caller is answered.
  add(function.success, ran.inferences, ran.waited + event.held * static_cast<double>(good));
}

void BatchCounts::count_stage(Installed& installed, const Batch& batch, Duration measured) {
  std::vector<ModelStats::OfStage>& stages = installed.stats.stages;
  const std::string name = stage_name(*installed.application, batch.path, batch.stage);
  auto at = std::find_if(stages.begin(), stages.end(), [&](const auto& s) { return s.name == name; });
  if (at == stages.end()) at = stages.insert(at, {.name = name});
  add(at->queue, batch.members, batch.waited);
  add(at->infer, 1, measured);
  add(of_size(at->batches, batch.members).infer, 1, measured);
}

void BatchCounts::forget(ApplicationId application) {
  std::erase_if(under_way_, [&](const auto& entry) { return entry.second.application == application; });
}

}  // namespace sluice::live
