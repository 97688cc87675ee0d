#include "live/batch_counts.h"

#include <algorithm>

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

}  // namespace

void BatchCounts::started(const StartBatch& batch, Time now) {
  const BatchMember& oldest = batch.members.front();
  Batch& known = under_way_[batch.id];
  known = {batch.application, oldest.path, oldest.stage, static_cast<std::uint32_t>(batch.members.size()), {}};
  for (const BatchMember& member : batch.members) known.waited += now - member.ready;
}

void BatchCounts::finished(const BatchFinished& event, Time now, Directory& directory) {
  const auto it = under_way_.find(event.id);
  if (it == under_way_.end()) return;
  count(directory[it->second.application], it->second, event, now);
  under_way_.erase(it);
}

void BatchCounts::count(Installed& installed, const Batch& batch, const BatchFinished& event, Time now) {
  ModelStats& stats = installed.stats;
  add(stats.queue, batch.members, batch.waited);
  add(stats.compute_infer, 1, event.measured);
  add(stats.compute_input, 1, event.held - event.measured);
  add(stats.compute_output, 1, {});
  stats.inferences += batch.members;
  ++stats.executions;
  stats.last_inference_ms = now.count_ns() / 1'000'000;
  add(of_size(stats.batches, batch.members).infer, 1, event.measured);
  count_stage(installed, batch, event.measured);
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
