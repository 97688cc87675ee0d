// Values: what the stages of one run of a workflow have left on this machine, by the names that documents use. Resolves
// the inputs of invocations, the outputs of applications, conditions and the number of items of a foreach. Used by the
// invoker, which has the data, and by the platform for answers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/object_store.h"
#include "domain/application.h"
#include "domain/event_parts.h"

namespace sluice::data {

class Values {
 public:
  // All must outlive it; `run` is that of the application's own workflow. Outputs of a foreach are stacked in `arena`.
  Values(const ObjectStore& store, const Application& application, RequestId request, std::uint64_t run, Arena& arena)
      : store_(store), application_(application), request_(request), run_(run), arena_(arena) {}

  // What one invocation of a stage reads, by the names of its inputs. An error names the input that has no value.
  [[nodiscard]] Result<Tensors> inputs_of(StageId stage, std::uint32_t item) const;
  // The application's outputs: as its document names them, else all outputs of the stages that end it.
  [[nodiscard]] Result<Tensors> outputs() const;

  // What is known of conditions and fan-outs now that `finished` has left its outputs (none: the request its inputs);
  // those that need more are left out.
  [[nodiscard]] std::vector<Verdict> verdicts(StageId finished) const;
  [[nodiscard]] std::vector<FanOut> fan_outs(StageId finished) const;

  // Bytes that were copied to stack the outputs of a foreach.
  [[nodiscard]] std::size_t copied() const { return copied_; }

 private:
  // One output, or with "*" all of them, renamed to `as` unless that is "*"; nothing if it has no value.
  [[nodiscard]] bool collect(const Reference& from, const std::string& as, Tensors& out) const;
  [[nodiscard]] bool collect_passed(const Stage& pass, StageId id, const Reference& from, const std::string& as,
                                    Tensors& out) const;
  [[nodiscard]] SharedTensors left_by(StageId stage) const;
  [[nodiscard]] SharedTensors stacked(StageId stage) const;
  [[nodiscard]] std::optional<Tensor> value(const Reference& from) const;
  [[nodiscard]] std::optional<bool> holds(const Condition& condition) const;

  const ObjectStore& store_;
  const Application& application_;
  RequestId request_;
  std::uint64_t run_;
  Arena& arena_;
  mutable std::size_t copied_ = 0;
};

// Whether a tensor of one element satisfies a comparison; texts compare as texts. False for anything else.
[[nodiscard]] bool satisfies(const Tensor& tensor, const Comparison& comparison);
// Row `row` of a tensor, without its first dimension. REQUIRES: row < shape[0]; a type of fixed size.
[[nodiscard]] Tensor row_of(const Tensor& tensor, std::uint32_t row);

}  // namespace sluice::data
