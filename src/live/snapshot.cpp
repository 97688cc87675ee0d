#include "live/snapshot.h"

#include <algorithm>

namespace sluice::live {
namespace {

const Model* find_in(std::span<const Model> sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &Model::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

void add(Counted& to, const Counted& more) {
  to.count += more.count;
  to.ns += more.ns;
}

void add(std::vector<ModelStats::OfBatch>& to, const std::vector<ModelStats::OfBatch>& more) {
  for (const ModelStats::OfBatch& batch : more) {
    const auto at = std::ranges::lower_bound(to, batch.size, {}, &ModelStats::OfBatch::size);
    if (at != to.end() && at->size == batch.size)
      add(at->infer, batch.infer);
    else
      to.insert(at, batch);
  }
}

}  // namespace

void ModelStats::add(const ModelStats& other) {
  using Number = std::uint64_t ModelStats::*;
  for (const Number number : {&ModelStats::met, &ModelStats::late, &ModelStats::rejected, &ModelStats::failed,
                              &ModelStats::cancelled, &ModelStats::inferences, &ModelStats::executions}) {
    this->*number += other.*number;
  }
  using Time = Counted ModelStats::*;
  for (const Time time : {&ModelStats::success, &ModelStats::fail, &ModelStats::queue, &ModelStats::compute_input,
                          &ModelStats::compute_infer, &ModelStats::compute_output}) {
    live::add(this->*time, other.*time);
  }
  last_inference_ms = std::max(last_inference_ms, other.last_inference_ms);
  live::add(batches, other.batches);
  for (const OfStage& stage : other.stages) {
    const auto known = std::ranges::find(stages, stage.name, &OfStage::name);
    if (known == stages.end()) {
      stages.push_back(stage);
      continue;
    }
    live::add(known->queue, stage.queue);
    live::add(known->infer, stage.infer);
    live::add(known->batches, stage.batches);
  }
  cost += other.cost;
}

std::span<const Model> Snapshot::models_of(std::string_view tenant) const {
  // Not equal_range(), whose result clang cannot make a span of.
  const auto first = std::ranges::lower_bound(models, tenant, {}, &Model::tenant);
  return {first, std::ranges::upper_bound(first, models.end(), tenant, {}, &Model::tenant)};
}

const Model* Snapshot::find(std::string_view tenant, std::string_view name) const {
  const std::span<const Model> all = models_of(tenant);
  const auto functions = std::ranges::partition_point(all, [](const Model& m) { return !m.is_function; });
  const auto applications = static_cast<std::size_t>(functions - all.begin());
  const Model* application = find_in(all.first(applications), name);
  return application != nullptr ? application : find_in(all.subspan(applications), name);
}

namespace {

// Whether it is an instance of the function, and loaded.
auto loaded_of(std::string_view tenant, const Function& function) {
  return [tenant, &function, version = code_of(function)](const InstanceInfo& instance) {
    return instance.level >= Level::host && instance.tenant == tenant && instance.function == function.name &&
           instance.version == version;
  };
}

}  // namespace

std::vector<std::string> Snapshot::machines_of(std::string_view tenant, const Function& function) const {
  std::vector<std::string> out;
  const auto loaded = loaded_of(tenant, function);
  for (const NodeInfo& node : nodes) {
    if (std::ranges::any_of(node.instances, loaded)) out.push_back(node.name);
  }
  return out;
}

std::optional<OnGpu> Snapshot::on_gpu(std::string_view tenant, const Function& function) const {
  const auto loaded = loaded_of(tenant, function);
  for (const NodeInfo& node : nodes) {
    for (const InstanceInfo& instance : node.instances) {
      if (instance.on_gpu && loaded(instance)) return instance.on_gpu;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::live
