// A tensor of one element against a literal of a condition.
#include <cstring>

#include "data/values.h"

namespace sluice::data {
namespace {

template <class T>
double read(const Tensor& tensor) {
  T value{};
  std::memcpy(&value, tensor.bytes().data(), sizeof value);
  return static_cast<double>(value);
}

std::optional<double> number(const Tensor& tensor) {
  if (element_count(tensor.info.shape) != 1 || tensor.size != element_size(tensor.info.type)) return std::nullopt;
  switch (tensor.info.type) {
    case DataType::boolean:
    case DataType::uint8:
      return read<std::uint8_t>(tensor);
    case DataType::uint16:
      return read<std::uint16_t>(tensor);
    case DataType::uint32:
      return read<std::uint32_t>(tensor);
    case DataType::uint64:
      return read<std::uint64_t>(tensor);
    case DataType::int8:
      return read<std::int8_t>(tensor);
    case DataType::int16:
      return read<std::int16_t>(tensor);
    case DataType::int32:
      return read<std::int32_t>(tensor);
    case DataType::int64:
      return read<std::int64_t>(tensor);
    case DataType::fp32:
      return read<float>(tensor);
    case DataType::fp64:
      return read<double>(tensor);
    case DataType::fp16:
    case DataType::bf16:
    case DataType::bytes:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> text(const Tensor& tensor) {
  constexpr std::size_t kLength = 4;
  if (tensor.info.type != DataType::bytes || element_count(tensor.info.shape) != 1 || tensor.size < kLength)
    return std::nullopt;
  return std::string(reinterpret_cast<const char*>(tensor.bytes().data()) + kLength, tensor.size - kLength);
}

template <class T>
bool compare(const T& left, Comparator comparator, const T& right) {
  switch (comparator) {
    case Comparator::equal:
      return left == right;
    case Comparator::not_equal:
      return left != right;
    case Comparator::less:
      return left < right;
    case Comparator::less_equal:
      return left <= right;
    case Comparator::greater:
      return left > right;
    case Comparator::greater_equal:
      return left >= right;
    case Comparator::present:
    case Comparator::matches:
      return false;
  }
  return false;
}

// `*` stands for any text.
bool matches(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool satisfies(const Tensor& tensor, const Comparison& comparison) {
  if (const auto* wanted = std::get_if<std::string>(&comparison.right)) {
    const auto have = text(tensor);
    if (!have) return false;
    return comparison.comparator == Comparator::matches ? matches(*have, *wanted)
                                                        : compare(*have, comparison.comparator, *wanted);
  }
  const auto have = number(tensor);
  if (!have) return false;
  const bool* flag = std::get_if<bool>(&comparison.right);
  return compare(*have, comparison.comparator,
                 flag != nullptr ? (*flag ? 1.0 : 0.0) : std::get<double>(comparison.right));
}

}  // namespace sluice::data
