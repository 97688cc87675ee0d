// Lists, their items, and what was made of the items as a list again.
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "data/values.h"
#include "domain/limits.h"
#include "domain/wiring.h"

namespace sluice::data {
namespace {

const Tensor* find(const SharedTensors& tensors, const std::string& name) {
  if (tensors == nullptr) return nullptr;
  for (const Tensor& tensor : *tensors) {
    if (name == kEverything || tensor.info.name == name) return &tensor;
  }
  return nullptr;
}

// Of texts, from what is known of each row: their bytes may be others by now. Nothing where a row has no index.
TextIndex stacked_index(const std::vector<const Tensor*>& rows) {
  std::vector<std::uint64_t> begins;
  std::size_t at = 0;  // in the block that they are stacked in
  for (const Tensor* row : rows) {
    if (!row->texts) return {};
    const std::size_t count = element_count(row->info.shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) begins.push_back(at + row->texts.begin(i) - row->offset);
    at += row->size;
  }
  begins.push_back(at);
  return {std::make_shared<const std::vector<std::uint64_t>>(std::move(begins))};
}

std::optional<Tensor> stack(const std::vector<const Tensor*>& rows, Arena& arena) {
  std::size_t bytes = 0;
  for (const Tensor* row : rows) bytes += row->size;
  const auto block = arena.allocate(bytes);
  if (!block) return std::nullopt;
  Tensor out{.info = rows.front()->info, .block = *block, .size = bytes};
  out.info.shape.push_front(static_cast<std::int64_t>(rows.size()));
  std::byte* to = block->data();
  for (const Tensor* row : rows) {
    std::memcpy(to, row->bytes().data(), row->size);
    to += row->size;
  }
  out.texts = stacked_index(rows);
  return out;
}

bool is_list(const Stage& stage) {
  return stage.foreach && (stage.kind == Stage::Kind::run || !stage.foreach->body.empty());
}

}  // namespace

std::optional<std::uint64_t> Values::rows_of(const Reference& list) const {
  if (list.stage.valid() && is_list(workflow_.at(list.stage))) {
    const auto items = left_by_all(list.stage);
    if (!items) return std::nullopt;
    const bool everywhere = std::all_of(items->begin(), items->end(),
                                        [&](const SharedTensors& left) { return find(left, list.output) != nullptr; });
    return everywhere ? std::optional<std::uint64_t>(items->size()) : std::nullopt;
  }
  const auto tensor = value(list);
  if (!tensor || tensor->info.shape.empty()) return std::nullopt;
  return static_cast<std::uint64_t>(tensor->info.shape.front());
}

// Of what a foreach made, the row is what its item left: nothing need be stacked for it.
Result<Tensor> Values::row_of_list(const Reference& list, std::uint32_t row) const {
  const auto missing = [&] {
    return Error{ErrorCode::invalid, str("item ", row, " of ", describe(list, workflow_), " is not there")};
  };
  if (list.stage.valid() && is_list(workflow_.at(list.stage))) {
    const SharedTensors left = left_by_item(list.stage, row);
    const Tensor* tensor = find(left, list.output);
    return tensor != nullptr ? Result<Tensor>(*tensor) : missing();
  }
  auto tensor = value(list);
  if (!tensor) return missing();
  if (tensor->info.shape.empty()) return row == 0 ? Result<Tensor>(*tensor) : missing();
  auto own = row_of(*tensor, row);
  return own ? Result<Tensor>(std::move(*own)) : missing();
}

// Without a look at the items, of which there may be many; whether they are there is seen when they are read.
std::uint32_t Values::items_of(StageId stage) const {
  const Reference& list = workflow_.at(stage).foreach->over;
  if (list.stage.valid() && is_list(workflow_.at(list.stage))) return items_of(list.stage);
  const std::uint64_t most = limits::foreach_items_max;  // a request with more has failed, or is about to
  return static_cast<std::uint32_t>(std::min(rows_of(list).value_or(1), most));
}

SharedTensors Values::left_by_item(StageId stage, std::uint32_t item) const {
  if (workflow_.at(stage).foreach->body.empty()) {
    return get({.outermost = run_.outermost, .stage = stage, .item = item, .path = run_.path});
  }
  Tensors ends = inside(stage, item).ends();
  return ends.empty() ? nullptr : std::make_shared<const Tensors>(std::move(ends));
}

// Runs begin in the order of their items or against it: at the two ends one sees soonest that some are missing.
std::optional<std::vector<SharedTensors>> Values::left_by_all(StageId stage) const {
  const std::uint32_t items = items_of(stage);
  if (items > 0 && (left_by_item(stage, 0) == nullptr || left_by_item(stage, items - 1) == nullptr))
    return std::nullopt;
  std::vector<SharedTensors> out;
  bool all = true;
  for (std::uint32_t i = 0; i < items; ++i) {
    out.push_back(left_by_item(stage, i));
    all = all && out.back() != nullptr;
    if (!all && missing_ == nullptr) return std::nullopt;  // else all that are missing are fetched at once
  }
  return all ? std::optional(std::move(out)) : std::nullopt;
}

// The outputs of all items, one after the other, with the number of items as the first dimension. An output that items
// left in different forms, or not all of them, cannot be stacked and is left out. Null: some item has left nothing, or
// there is none.
SharedTensors Values::stacked(StageId stage) const {
  const auto items = left_by_all(stage);
  if (!items || items->empty()) return nullptr;
  auto out = std::make_shared<Tensors>();
  for (const Tensor& first : *items->front()) {
    std::vector<const Tensor*> rows;
    for (const SharedTensors& item : *items) {
      const Tensor* row = find(item, first.info.name);
      if (row == nullptr || row->info != first.info) break;
      rows.push_back(row);
    }
    if (rows.size() < items->size()) continue;
    auto all = stack(rows, arena_);
    if (!all) return nullptr;
    out->push_back(std::move(*all));
  }
  return out;
}

}  // namespace sluice::data
