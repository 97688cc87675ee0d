// SluiceTables: the models of `sluice` for one model that are likely to be asked for first, made ahead of it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "policy/derived.h"
#include "policy/sluice_model.h"

namespace sluice::policy {

// What the models of an application are made for.
struct SluiceTerms {
  SluiceOptions options;
  std::vector<NodeGroup> shapes;  // of the machines, each once, by the lowest invoker that has it
  std::uint32_t level = 0;        // of the price of being late, where the application asks for a percentile
};

struct SluiceTables final : Derived {
  struct Entry {
    ModelKind kind;
    std::shared_ptr<const SluiceModel> model;
  };
  std::shared_ptr<const plan::WorkflowModel> model;
  std::vector<NodeGroup> shapes;
  std::vector<Entry> models;
};

// The model if it was made ahead from this model and for these machines, else null.
[[nodiscard]] std::shared_ptr<const SluiceModel> find_model(std::span<const std::shared_ptr<const Derived>> derived,
                                                            const plan::WorkflowModel& model,
                                                            const std::vector<NodeGroup>& shapes,
                                                            const ModelKind& kind);

// For requests with no more time than the objective: at the price of `level`, and at those beside it where the price
// of being late moves. Null if the tables would not fit into memory.
[[nodiscard]] std::shared_ptr<const SluiceTables> make_tables(const std::shared_ptr<const plan::WorkflowModel>& model,
                                                              const Application& application, const SluiceTerms& terms);

// The shapes of these machines when all of them have joined.
[[nodiscard]] std::vector<NodeGroup> shapes_of(const std::vector<NodeGroup>& machines);

}  // namespace sluice::policy
