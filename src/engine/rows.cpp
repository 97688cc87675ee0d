#include "engine/rows.h"

#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace sluice::engine {
namespace {

Error malformed(const data::TensorInfo& info) {
  return {ErrorCode::invalid, str("tensor `", info.name, "` does not have the bytes that its shape asks for")};
}

// Takes the first `count` elements of type bytes off `rest`.
bool take_elements(std::span<std::byte>& rest, std::size_t count, std::vector<std::span<std::byte>>* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t length = 0;
    if (rest.size() < sizeof length) return false;
    std::memcpy(&length, rest.data(), sizeof length);
    if (rest.size() - sizeof length < length) return false;
    if (out != nullptr) out->push_back(rest.subspan(sizeof length, length));
    rest = rest.subspan(sizeof length + length);
  }
  return true;
}

}  // namespace

Result<std::vector<std::span<std::byte>>> elements_of(const data::TensorView& tensor) {
  CHECK(tensor.info.type == DataType::bytes);
  std::vector<std::span<std::byte>> elements;
  std::span<std::byte> rest = tensor.bytes;
  const auto count = data::element_count(tensor.info.shape);
  if (!count || !take_elements(rest, *count, &elements) || !rest.empty()) return malformed(tensor.info);
  return elements;
}

Result<std::vector<data::TensorView>> rows_of(const data::TensorView& stacked, std::uint32_t rows) {
  CHECK(!stacked.info.shape.empty() && stacked.info.shape.front() == static_cast<std::int64_t>(rows) && rows > 0);
  data::TensorInfo info = stacked.info;
  info.shape.pop_front();
  const auto count = data::element_count(info.shape);
  if (!count) return malformed(stacked.info);
  std::span<std::byte> rest = stacked.bytes;
  std::vector<data::TensorView> views;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::span<std::byte> before = rest;
    if (info.type == DataType::bytes) {
      if (!take_elements(rest, *count, nullptr)) return malformed(stacked.info);
    } else {
      const std::size_t bytes = *count * data::element_size(info.type);
      if (rest.size() < bytes) return malformed(stacked.info);
      rest = rest.subspan(bytes);
    }
    views.push_back({info, before.first(before.size() - rest.size())});
  }
  return views;
}

}  // namespace sluice::engine
