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

#include "base/check.h"
#include "data/arena.h"
#include "data/kept.h"
#include "data/shape.h"
#include "domain/function.h"

namespace sluice::data {

// What a tensor is, without its bytes.
struct TensorInfo {
  std::string name;
  DataType type = DataType::fp32;
  Shape shape;
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
  void visit(auto& archive) { archive(name, type, shape); }
};

// Where the elements of a tensor of type bytes are. Their lengths lie in memory that a worker can write at any time:
// they are read once, while they are checked, and kept here.
struct TextIndex {
  std::shared_ptr<const std::vector<std::uint64_t>>
      begins;             // in the block, of the lengths; after the last one: the end
  std::size_t first = 0;  // of them
  [[nodiscard]] explicit operator bool() const { return begins != nullptr; }
  [[nodiscard]] std::size_t begin(std::size_t element) const { return (*begins)[first + element]; }
};

// Never changed once others can see it.
struct Tensor {
  TensorInfo info;
  Block block;
  std::size_t offset = 0, size = 0;  // within the block
  TextIndex texts = {};              // of type bytes, where somebody has looked: index_texts()
  std::shared_ptr<Kept> kept = {};   // on a GPU; never of type bytes. Null: its bytes are in the block
  // REQUIRES: nothing is kept, or it was fetched.
  [[nodiscard]] std::span<std::byte> bytes() const {
    CHECK(kept == nullptr || kept->fetched());
    return {block.data() + offset, size};
  }
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
// Goes over `count` elements of type bytes, which have to be all of `bytes`; every length is read once. `begins`,
// unless it is null, gets where they begin, and the end.
inline constexpr std::size_t kTextLength = sizeof(std::uint32_t);  // bytes before each
[[nodiscard]] bool walk_texts(std::size_t count, std::span<const std::byte> bytes, std::vector<std::uint64_t>* begins);
// Checks a tensor as well_formed() does; elements of type bytes are in its index afterwards. `bytes` are what it holds:
// its own, or better what is about to be copied there, which no worker can write.
[[nodiscard]] bool index_texts(Tensor& tensor, std::span<const std::byte> bytes);
// The elements of a tensor of type bytes, by its index, made now if there is none. Nothing: it is not well formed. What
// they say may change while one looks.
[[nodiscard]] std::optional<std::vector<std::span<const std::byte>>> texts_of(const Tensor& tensor);
// The same tensors in that arena: those that are elsewhere are copied. Nothing: it has no room.
[[nodiscard]] std::optional<Tensors> brought_into(Arena& arena, const Tensors& tensors);
// Row `row` of a tensor, without its first dimension. Nothing: it has no such row, or is not well formed.
[[nodiscard]] std::optional<Tensor> row_of(const Tensor& tensor, std::uint32_t row);

}  // namespace sluice::data
