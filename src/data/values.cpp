#include "data/values.h"

#include <algorithm>

#include "base/text.h"
#include "domain/wiring.h"

namespace sluice::data {
namespace {

bool everything(const std::string& name) {
  return name == kEverything;
}

RunKey key_around(RunKey run) {
  run.path.pop_back();
  return run;
}
RunKey key_inside(RunKey run, const ItemOf& item) {
  run.path.push_back(item);
  return run;
}

bool has(const Tensors& tensors, const std::string& name) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.info.name == name; });
}

}  // namespace

Values::Values(const ObjectStore& store, const Application& application, RunKey run, Arena& arena, Missing* missing)
    : store_(store),
      application_(application),
      run_(std::move(run)),
      workflow_(workflow_of(application, run_.path)),
      arena_(arena),
      missing_(missing) {
  if (!run_.path.empty())
    around_ = std::make_shared<const Values>(store, application, key_around(run_), arena, missing);
}

Values::Values(const Values& around, const ItemOf& item)
    : store_(around.store_),
      application_(around.application_),
      run_(key_inside(around.run_, item)),
      workflow_(around.workflow_.at(item.stage).foreach->body.front()),
      arena_(around.arena_),
      missing_(around.missing_),
      around_(Around(), &around) {}  // not its owner

Result<Tensors> Values::inputs_of(StageId id, std::uint32_t item) const {
  const Stage& stage = workflow_.at(id);
  if (around_ != nullptr) {
    const ItemOf& own = run_.path.back();
    if (auto request = around_->item_of(own.stage, own.item); !request) return request.error();
  }
  Tensors out;
  for (const InputBinding& binding : wiring(application_, workflow_, id)) {
    const std::size_t first = out.size();
    if (const Status got = bind(stage, binding, item, out); !got) return got.error();
    // Where a stage reads everything, the list is among it.
    for (std::size_t t = first; t < out.size() && stage.foreach && everything(binding.from.output); ++t) {
      if (binding.from.stage != stage.foreach->over.stage || out[t].info.name != stage.foreach->over.output) continue;
      auto row = row_of_list(stage.foreach->over, item);
      if (!row) return row.error();
      out[t] = std::move(*row);
    }
  }
  return out;
}

// Why nothing is found.
std::string Values::missing(const Reference& from) const {
  const std::string what = describe(from, workflow_);
  Tensors all;
  const bool there = collect({from.stage, std::string(kEverything)}, std::string(kEverything), all);
  if (!from.output.empty() || !there || all.size() < 2) return what + " is not there";
  std::string names;
  for (const Tensor& tensor : all) names += str(names.empty() ? "" : ", ", tensor.info.name);
  return str(what, " has several: ", names, "; write ", what, ".", all.front().info.name);
}

// A foreach reads one item where the list is wired.
Status Values::bind(const Stage& stage, const InputBinding& binding, std::uint32_t item, Tensors& out) const {
  if (stage.foreach && binding.from == stage.foreach->over) {
    auto row = row_of_list(stage.foreach->over, item);
    if (!row) return row.error();
    if (!everything(binding.input)) row->info.name = binding.input;
    out.push_back(std::move(*row));
    return Done{};
  }
  if (collect(binding.from, binding.input, out) || everything(binding.input)) return Done{};
  return Error{ErrorCode::invalid,
               str("input '", binding.input, "' of stage '", stage.name, "' has no value: ", missing(binding.from))};
}

Result<Tensors> Values::item_of(StageId id, std::uint32_t item) const {
  const Stage& stage = workflow_.at(id);
  auto row = row_of_list(stage.foreach->over, item);
  if (!row) return row.error();
  Tensors out;
  for (const InputBinding& binding : stage.inputs) {
    if (const Status got = bind(stage, binding, item, out); !got) return got.error();
  }
  if (!has(out, row->info.name)) out.push_back(std::move(*row));
  return out;
}

Result<Tensors> Values::outputs() const {
  Tensors out;
  for (const OutputBinding& binding : application_.outputs) {
    if (!collect(binding.from, binding.name, out)) {
      return Error{ErrorCode::invalid, str("output '", binding.name, "' has no value: ", missing(binding.from))};
    }
  }
  return application_.outputs.empty() ? ends() : std::move(out);
}

Tensors Values::ends() const {
  std::vector<bool> followed(workflow_.size());
  for (const Stage& stage : workflow_.stages) {
    for (const StageId before : stage.after) followed[before.index()] = true;
  }
  Tensors out;
  for (std::uint32_t s = 0; s < workflow_.size(); ++s) {
    if (!followed[s]) (void)collect({StageId(s), std::string(kEverything)}, std::string(kEverything), out);
  }
  return out;
}

SharedTensors Values::left_by(StageId id) const {
  if (id.valid() && workflow_.at(id).foreach) return stacked(id);
  if (id.valid()) return get({.outermost = run_.outermost, .stage = id, .path = run_.path});
  if (around_ == nullptr) return get({.outermost = kRequestInputs});
  auto item = around_->item_of(run_.path.back().stage, run_.path.back().item);
  return item ? std::make_shared<const Tensors>(std::move(*item)) : nullptr;
}

SharedTensors Values::get(const ObjectKey& key) const {
  SharedTensors found = store_.get(run_.request, key);
  if (found == nullptr && missing_ != nullptr && missing_->size() < missing_max) missing_->insert(key);
  return found;
}

bool Values::collect(const Reference& from, const std::string& as, Tensors& out) const {
  const bool passed = from.stage.valid() && passes(workflow_.at(from.stage));
  if (passed) return reached(from.stage) && collect_passed(from, as, out);
  const SharedTensors left = left_by(from.stage);
  if (left == nullptr) return false;
  // A reference without an output, read by a name: the only one there is.
  const bool only = from.output.empty();
  if (only && left->size() != 1) return false;
  bool found = everything(from.output);
  for (const Tensor& tensor : *left) {
    if (!everything(from.output) && !only && tensor.info.name != from.output) continue;
    out.push_back(tensor);
    if (!everything(as)) out.back().info.name = as;
    found = true;
  }
  return found;
}

// By the names that the pass stage gives to what it hands on.
bool Values::collect_passed(const Reference& from, const std::string& as, Tensors& out) const {
  bool found = false;
  const std::vector<InputBinding> bindings = wiring(application_, workflow_, from.stage);
  const bool only = from.output.empty();
  if (only && bindings.size() != 1) return false;
  for (const InputBinding& binding : bindings) {
    const bool named = !everything(binding.input);
    if (named && !everything(from.output) && !only && binding.input != from.output) continue;
    const std::string& source = everything(binding.from.output) ? from.output : binding.from.output;
    found = collect({binding.from.stage, source}, named && everything(as) ? binding.input : as, out) || found;
  }
  return found;
}

std::optional<Tensor> Values::value(const Reference& from) const {
  Tensors found;
  if (!collect(from, from.output, found) || found.empty()) return std::nullopt;
  return std::move(found.front());
}

}  // namespace sluice::data
