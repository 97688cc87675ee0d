#include "data/tensor.h"

#include <cstring>

namespace sluice::data {

std::size_t element_size(DataType type) {
  switch (type) {
    case DataType::boolean:
    case DataType::uint8:
    case DataType::int8:
      return 1;
    case DataType::uint16:
    case DataType::int16:
    case DataType::fp16:
    case DataType::bf16:
      return 2;
    case DataType::uint32:
    case DataType::int32:
    case DataType::fp32:
      return 4;
    case DataType::uint64:
    case DataType::int64:
    case DataType::fp64:
      return 8;
    case DataType::bytes:
      return 0;
  }
  return 0;
}

std::optional<std::size_t> element_count(std::span<const std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(dimension), &count))
      return std::nullopt;
  }
  return count;
}

std::optional<std::size_t> byte_size(DataType type, std::span<const std::int64_t> shape) {
  const auto count = element_count(shape);
  std::size_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, element_size(type), &bytes)) return std::nullopt;
  return bytes;
}

bool walk_texts(std::size_t count, std::span<const std::byte> bytes, std::vector<std::uint64_t>* begins) {
  if (count > bytes.size() / kTextLength) return false;
  if (begins != nullptr) begins->reserve(count + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (begins != nullptr) begins->push_back(at);
    std::uint32_t length = 0;
    if (bytes.size() - at < kTextLength) return false;
    std::memcpy(&length, bytes.data() + at, kTextLength);
    at += kTextLength;
    if (bytes.size() - at < length) return false;
    at += length;
  }
  if (begins != nullptr) begins->push_back(at);
  return at == bytes.size();
}

bool well_formed(const TensorInfo& info, std::span<const std::byte> bytes) {
  if (info.type != DataType::bytes) return byte_size(info.type, info.shape) == bytes.size();
  const auto count = element_count(info.shape);
  return count && walk_texts(*count, bytes, nullptr);
}

}  // namespace sluice::data
