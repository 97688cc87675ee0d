// Tensors: named, typed, shaped bytes in an arena. Row major, little-endian; an element of type bytes is its length in
// four bytes and then itself, as the Open Inference Protocol has it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/arena.h"
#include "domain/function.h"

namespace sluice::data {

// What a tensor is, without its bytes.
struct TensorInfo {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<std::int64_t> shape;
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
  void visit(auto& archive) { archive(name, type, shape); }
};

// Never changed once others can see it.
struct Tensor {
  TensorInfo info;
  Block block;
  std::size_t offset = 0, size = 0;  // within the block
  [[nodiscard]] std::span<std::byte> bytes() const { return {block.data() + offset, size}; }
};
using Tensors = std::vector<Tensor>;

// A tensor as an engine sees it: mapped memory of somebody else.
struct TensorView {
  TensorInfo info;
  std::span<std::byte> bytes;
};

// Bytes of one element; 0: it has no fixed size.
[[nodiscard]] std::size_t element_size(DataType type);
// The product of the dimensions; nothing if one is negative or it does not fit.
[[nodiscard]] std::optional<std::size_t> element_count(std::span<const std::int64_t> shape);
// Of a type of fixed size.
[[nodiscard]] std::optional<std::size_t> byte_size(DataType type, std::span<const std::int64_t> shape);
// Whether the bytes are exactly what type and shape ask for; elements of type bytes are walked.
[[nodiscard]] bool well_formed(const TensorInfo& info, std::span<const std::byte> bytes);

}  // namespace sluice::data
