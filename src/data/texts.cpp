// Tensors in arenas: texts by their index, rows, copies.
#include <cstring>

#include "data/tensor.h"

namespace sluice::data {

bool index_texts(Tensor& tensor, std::span<const std::byte> bytes) {
  if (tensor.info.type != DataType::bytes) return well_formed(tensor.info, bytes);
  const auto count = element_count(tensor.info.shape);
  std::vector<std::uint64_t> begins;
  if (!count || !walk_texts(*count, bytes, &begins)) return false;
  for (std::uint64_t& begin : begins) begin += tensor.offset;
  tensor.texts = {std::make_shared<const std::vector<std::uint64_t>>(std::move(begins))};
  return true;
}

std::optional<std::vector<std::span<const std::byte>>> texts_of(const Tensor& tensor) {
  Tensor indexed = tensor;
  if (!indexed.texts && !index_texts(indexed, indexed.bytes())) return std::nullopt;
  const std::size_t count = element_count(tensor.info.shape).value_or(0);
  std::vector<std::span<const std::byte>> out;
  out.reserve(count);
  const std::byte* base = tensor.block.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = indexed.texts.begin(i) + kTextLength, end = indexed.texts.begin(i + 1);
    out.emplace_back(base + begin, end - begin);
  }
  return out;
}

std::optional<Tensors> brought_into(Arena& arena, const Tensors& tensors) {
  Tensors out = tensors;
  for (Tensor& tensor : out) {
    if (tensor.block.is_in(arena)) continue;
    const auto block = arena.allocate(tensor.size);
    if (!block) return std::nullopt;
    if (tensor.size > 0) std::memcpy(block->data(), tensor.bytes().data(), tensor.size);
    if (tensor.texts) {
      std::vector<std::uint64_t> begins;
      const std::size_t count = element_count(tensor.info.shape).value_or(0);
      for (std::size_t i = 0; i <= count; ++i) begins.push_back(tensor.texts.begin(i) - tensor.offset);
      tensor.texts = {std::make_shared<const std::vector<std::uint64_t>>(std::move(begins))};
    }
    tensor.block = *block;
    tensor.offset = 0;
  }
  return out;
}

std::optional<Tensor> row_of(const Tensor& tensor, std::uint32_t row) {
  if (tensor.info.shape.empty() || row >= static_cast<std::uint64_t>(tensor.info.shape.front())) return std::nullopt;
  const auto rows = static_cast<std::size_t>(tensor.info.shape.front());
  Tensor out = tensor;
  if (tensor.info.type == DataType::bytes && !out.texts && !index_texts(out, out.bytes())) return std::nullopt;
  out.info.shape.pop_front();
  if (tensor.info.type == DataType::bytes) {
    const std::size_t texts = element_count(out.info.shape).value_or(0);
    const std::size_t begin = out.texts.begin(texts * row);
    out.size = out.texts.begin(texts * (row + std::size_t{1})) - begin;
    out.offset = begin;
    out.texts.first += texts * row;
  } else {
    out.size = tensor.size / rows;
    out.offset = tensor.offset + out.size * row;
  }
  return out;
}

}  // namespace sluice::data
