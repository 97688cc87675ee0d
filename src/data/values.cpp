#include "data/values.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "domain/wiring.h"

namespace sluice::data {
namespace {

bool everything(const std::string& name) {
  return name == kEverything;
}

// The stages a condition reads; none() stands for the request.
void read_by(const Condition& condition, std::vector<StageId>& out) {
  if (condition.kind == Condition::Kind::compare) out.push_back(condition.comparison.left.stage);
  for (const Condition& term : condition.terms) read_by(term, out);
}

bool fixed_rows(const Tensor& tensor) {
  return tensor.info.type != DataType::bytes && !tensor.info.shape.empty();
}

}  // namespace

Tensor row_of(const Tensor& tensor, std::uint32_t row) {
  Tensor out = tensor;
  const auto rows = static_cast<std::size_t>(tensor.info.shape.front());
  CHECK(row < rows && fixed_rows(tensor));
  out.info.shape.erase(out.info.shape.begin());
  out.size = tensor.size / rows;
  out.offset = tensor.offset + out.size * row;
  return out;
}

Result<Tensors> Values::inputs_of(StageId id, std::uint32_t item) const {
  const Stage& stage = application_.workflow.at(id);
  Tensors out;
  for (const InputBinding& binding : wiring(application_, application_.workflow, id)) {
    if (!collect(binding.from, binding.input, out) && !everything(binding.input)) {
      return Error{ErrorCode::invalid, str("input '", binding.input, "' of stage '", stage.name, "' has no value: ",
                                           describe(binding.from, application_.workflow), " is not there")};
    }
  }
  if (!stage.foreach) return out;
  for (Tensor& tensor : out) {
    if (tensor.info.name != stage.foreach->over.output || !fixed_rows(tensor)) continue;
    if (item >= static_cast<std::uint64_t>(tensor.info.shape.front())) {
      return Error{ErrorCode::invalid, str("stage '", stage.name, "' has no item ", item)};
    }
    tensor = row_of(tensor, item);
  }
  return out;
}

Result<Tensors> Values::outputs() const {
  const Workflow& workflow = application_.workflow;
  Tensors out;
  for (const OutputBinding& binding : application_.outputs) {
    if (!collect(binding.from, binding.name, out)) {
      return Error{ErrorCode::invalid, str("output '", binding.name, "' has no value: ",
                                           describe(binding.from, workflow), " is not there")};
    }
  }
  if (!application_.outputs.empty()) return out;
  std::vector<bool> followed(workflow.size());
  for (const Stage& stage : workflow.stages) {
    for (const StageId before : stage.after) followed[before.index()] = true;
  }
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    if (!followed[s]) (void)collect({StageId(s), std::string(kEverything)}, std::string(kEverything), out);
  }
  return out;
}

SharedTensors Values::left_by(StageId stage) const {
  if (!stage.valid()) return store_.get(request_, {kRequestInputs, StageId::none(), 0});
  if (application_.workflow.at(stage).foreach) return stacked(stage);
  return store_.get(request_, {run_, stage, 0});
}

// The outputs of all items, one after the other, with the number of items as the first dimension.
SharedTensors Values::stacked(StageId stage) const {
  const std::uint32_t items = store_.items(request_, run_, stage);
  const SharedTensors first = store_.get(request_, {run_, stage, 0});
  if (first == nullptr) return nullptr;
  auto out = std::make_shared<Tensors>();
  for (std::size_t t = 0; t < first->size(); ++t) {
    Tensor all = (*first)[t];
    const auto block = arena_.allocate(all.size * items);
    if (!block) return nullptr;
    all.block = *block;
    all.offset = 0;
    all.size *= items;
    all.info.shape.insert(all.info.shape.begin(), items);
    for (std::uint32_t i = 0; i < items; ++i) {
      const SharedTensors one = store_.get(request_, {run_, stage, i});
      if (one == nullptr || one->size() <= t || (*one)[t].info != (*first)[t].info || (*one)[t].size * items != all.size)
        return nullptr;
      std::memcpy(block->data() + i * (*one)[t].size, (*one)[t].bytes().data(), (*one)[t].size);
      copied_ += (*one)[t].size;
    }
    out->push_back(std::move(all));
  }
  return out;
}

bool Values::collect(const Reference& from, const std::string& as, Tensors& out) const {
  if (from.stage.valid() && application_.workflow.at(from.stage).kind == Stage::Kind::pass) {
    return collect_passed(application_.workflow.at(from.stage), from.stage, from, as, out);
  }
  const SharedTensors left = left_by(from.stage);
  if (left == nullptr) return false;
  bool found = everything(from.output);
  for (const Tensor& tensor : *left) {
    if (!everything(from.output) && tensor.info.name != from.output) continue;
    out.push_back(tensor);
    if (!everything(as)) out.back().info.name = as;
    found = true;
  }
  return found;
}

bool Values::collect_passed(const Stage& pass, StageId id, const Reference& from, const std::string& as,
                            Tensors& out) const {
  for (const InputBinding& binding : pass.inputs) {
    if (binding.input == from.output) return collect(binding.from, as, out);
  }
  bool found = false;
  for (const InputBinding& binding : wiring(application_, application_.workflow, id)) {
    const bool all = everything(binding.from.output);
    found = collect({binding.from.stage, all ? from.output : binding.from.output}, as, out) || found;
  }
  return found;
}

std::optional<Tensor> Values::value(const Reference& from) const {
  Tensors found;
  if (!collect(from, from.output, found) || found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::optional<bool> Values::holds(const Condition& condition) const {
  switch (condition.kind) {
    case Condition::Kind::compare: {
      const auto tensor = value(condition.comparison.left);
      if (condition.comparison.comparator == Comparator::present) {
        return tensor.has_value() == std::get<bool>(condition.comparison.right);
      }
      return tensor && satisfies(*tensor, condition.comparison);
    }
    case Condition::Kind::all:
      return std::all_of(condition.terms.begin(), condition.terms.end(), [&](const Condition& c) { return *holds(c); });
    case Condition::Kind::any:
      return std::any_of(condition.terms.begin(), condition.terms.end(), [&](const Condition& c) { return *holds(c); });
    case Condition::Kind::negate: return !*holds(condition.terms.front());
    case Condition::Kind::otherwise: return std::nullopt;  // the scheduler's business
  }
  return std::nullopt;
}

std::vector<Verdict> Values::verdicts(StageId finished) const {
  std::vector<Verdict> out;
  const Workflow& workflow = application_.workflow;
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    const auto& when = workflow.stages[s].when;
    if (!when || when->kind == Condition::Kind::otherwise) continue;
    std::vector<StageId> reads;
    read_by(*when, reads);
    if (std::find(reads.begin(), reads.end(), finished) == reads.end()) continue;
    // What was skipped never comes: then nobody says, and the condition does not hold.
    const bool known = std::all_of(reads.begin(), reads.end(), [&](StageId r) { return left_by(r) != nullptr; });
    if (known) out.push_back({StageId(s), *holds(*when)});
  }
  return out;
}

std::vector<FanOut> Values::fan_outs(StageId finished) const {
  std::vector<FanOut> out;
  const Workflow& workflow = application_.workflow;
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    const auto& foreach = workflow.stages[s].foreach;
    if (!foreach || foreach->over.stage != finished) continue;
    const auto over = value(foreach->over);
    if (over && fixed_rows(*over)) out.push_back({StageId(s), static_cast<std::uint32_t>(over->info.shape.front())});
  }
  return out;
}

}  // namespace sluice::data
