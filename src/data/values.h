// Values: what the stages of one run of a request have left on this machine, by the names that documents use. Resolves
// the inputs of invocations, the outputs of workflows, conditions and the number of items of a foreach. Used by the
// invoker, which has the data, and by the platform for answers. A run inside of a foreach sees its item of what the run
// around it has, as its request; the run around it sees what all of them left, stacked.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/object_store.h"
#include "domain/application.h"
#include "domain/event_parts.h"

namespace sluice::data {

// Which run: its request, the number of the outermost run, and the way from there.
struct RunKey {
  RequestId request;
  std::uint64_t outermost = 0;
  RunPath path = {};
};

struct Known {
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  std::uint64_t items = 0;  // of all of them
};

// Objects that were looked for and are not here; at most missing_max of them, so that what is fetched is bounded.
using Missing = std::set<ObjectKey>;
inline constexpr std::size_t missing_max = 4'096;

class Values {
 public:
  // All must outlive it. Outputs of a foreach are stacked in `arena`. `missing`, unless it is null, gets what this
  // machine does not have.
  Values(const ObjectStore& store, const Application& application, RunKey run, Arena& arena,
         Missing* missing = nullptr);

  // What one invocation of a stage reads, by the names of its inputs. An error names the input that has no value.
  [[nodiscard]] Result<Tensors> inputs_of(StageId id, std::uint32_t item) const;
  // The application's outputs: as its document names them, else all outputs of the stages that end it.
  // REQUIRES: a run of the application's own workflow.
  [[nodiscard]] Result<Tensors> outputs() const;

  // What is known of conditions and fan-outs now that `finished` has left its outputs (none: the request its inputs),
  // in this run, in those around it and in those that will begin inside of it; what needs more is left out. An error if
  // there are more items than a foreach may have.
  [[nodiscard]] Result<Known> known_after(StageId finished) const;

 private:
  using Around = std::shared_ptr<const Values>;
  Values(const Values& around, const ItemOf& item);

  // The run of one item of a stage with a workflow inside. This one must outlive it.
  [[nodiscard]] Values inside(StageId stage, std::uint32_t item) const { return {*this, ItemOf{stage, item}}; }
  // What such a run sees as its request.
  [[nodiscard]] Result<Tensors> item_of(StageId id, std::uint32_t item) const;

  [[nodiscard]] Status bind(const Stage& stage, const InputBinding& binding, std::uint32_t item, Tensors& out) const;
  [[nodiscard]] std::string missing(const Reference& from) const;
  // One output, the only one with "", or with "*" all of them, renamed to `as` unless that is "*"; nothing if it has no
  // value.
  [[nodiscard]] bool collect(const Reference& from, const std::string& as, Tensors& out) const;
  [[nodiscard]] bool collect_passed(const Reference& from, const std::string& as, Tensors& out) const;
  [[nodiscard]] Tensors ends() const;  // all outputs of the stages that nothing follows
  [[nodiscard]] std::optional<Tensor> value(const Reference& from) const;
  [[nodiscard]] SharedTensors left_by(StageId id) const;
  [[nodiscard]] SharedTensors get(const ObjectKey& key) const;

  // Lists and what is made of their items (values_lists.cpp). The items of a list that nobody knows are one: all of it.
  [[nodiscard]] std::optional<std::uint64_t> rows_of(const Reference& list) const;
  [[nodiscard]] Result<Tensor> row_of_list(const Reference& list, std::uint32_t row) const;
  [[nodiscard]] std::uint32_t items_of(StageId stage) const;
  [[nodiscard]] SharedTensors left_by_item(StageId stage, std::uint32_t item) const;
  [[nodiscard]] std::optional<std::vector<SharedTensors>> left_by_all(StageId stage) const;  // nothing: not by all
  [[nodiscard]] SharedTensors stacked(StageId stage) const;

  // Conditions and fan-outs (values_known.cpp).
  [[nodiscard]] bool holds(const Condition& condition) const;
  [[nodiscard]] bool all_there(const Condition& condition) const;
  [[nodiscard]] Status add_known(StageId finished, Known& out) const;
  [[nodiscard]] Status add_fan_out(StageId id, Known& out) const;

  // Whether a stage that runs nothing itself was reached, as far as the data tell. What handles the errors of others
  // counts as reached while none of them has left anything.
  [[nodiscard]] bool reached(StageId id) const;
  [[nodiscard]] bool called(StageId handler) const;
  [[nodiscard]] bool left_something(StageId stage) const;

  const ObjectStore& store_;
  const Application& application_;
  RunKey run_;
  const Workflow& workflow_;
  Arena& arena_;
  Missing* missing_;
  Around around_;  // null: this is the application's own workflow
};

// Whether a stage runs nothing, be it once or for every item, and hands on what it reads.
[[nodiscard]] bool passes(const Stage& stage);
// Whether a tensor of one element satisfies a comparison; texts compare as texts. False for anything else.
[[nodiscard]] bool satisfies(const Tensor& tensor, const Comparison& comparison);

}  // namespace sluice::data
