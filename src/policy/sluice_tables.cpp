#include "policy/sluice_tables.h"

#include <algorithm>

#include "policy/miss_price.h"

namespace sluice::policy {

std::shared_ptr<const SluiceModel> find_model(std::span<const std::shared_ptr<const Derived>> derived,
                                              const plan::WorkflowModel& model, const std::vector<NodeGroup>& shapes,
                                              const ModelKind& kind) {
  for (const auto& one : derived) {
    const auto* tables = dynamic_cast<const SluiceTables*>(one.get());
    if (tables == nullptr || tables->model.get() != &model || tables->shapes != shapes) continue;
    for (const SluiceTables::Entry& entry : tables->models) {
      if (entry.kind.number() == kind.number()) return entry.model;
    }
  }
  return nullptr;
}

std::shared_ptr<const SluiceTables> make_tables(const std::shared_ptr<const plan::WorkflowModel>& model,
                                                const Application& application, const SluiceTerms& terms) {
  if (!plan::ValueTable::fits(*model)) return nullptr;
  std::uint32_t first = 0, last = 0;
  if (application.objective.percentile) {
    first = terms.level - std::min(terms.level, 1u);
    last = std::min(terms.level + 1, MissPrice::kLevels - 1);
  }
  auto out = std::make_shared<SluiceTables>();
  out->model = model;
  out->shapes = terms.shapes;
  for (ModelKind kind{.level = first}; kind.level <= last; ++kind.level) {
    out->models.push_back(
        {kind, std::make_shared<const SluiceModel>(model, application, terms.shapes, kind, terms.options)});
  }
  return out;
}

std::vector<NodeGroup> shapes_of(const std::vector<NodeGroup>& machines) {
  std::vector<NodeGroup> out;
  for (NodeGroup shape : machines) {
    shape.count = 1;
    if (shape.gpus == 0) {
      shape.slices_per_gpu = 0;
      shape.gpu_memory = {};
    }
    if (std::find(out.begin(), out.end(), shape) == out.end()) out.push_back(shape);
  }
  return out;
}

}  // namespace sluice::policy
