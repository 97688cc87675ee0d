#include "cli/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/check.h"
#include "base/text.h"
#include "data/half.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kShownMax = 16;
constexpr std::size_t kTextMax = 300;

template <class T>
T element(const std::string& bytes, std::size_t i) {
  T out{};
  std::memcpy(&out, bytes.data() + i * sizeof out, sizeof out);
  return out;
}

double real(const engine::OwnTensor& tensor, std::size_t i) {
  const std::string& bytes = tensor.bytes;
  switch (tensor.info.type) {
    case DataType::boolean:
    case DataType::uint8:
      return element<std::uint8_t>(bytes, i);
    case DataType::uint16:
      return element<std::uint16_t>(bytes, i);
    case DataType::uint32:
      return element<std::uint32_t>(bytes, i);
    case DataType::uint64:
      return static_cast<double>(element<std::uint64_t>(bytes, i));
    case DataType::int8:
      return element<std::int8_t>(bytes, i);
    case DataType::int16:
      return element<std::int16_t>(bytes, i);
    case DataType::int32:
      return element<std::int32_t>(bytes, i);
    case DataType::int64:
      return static_cast<double>(element<std::int64_t>(bytes, i));
    case DataType::fp16:
      return data::from_fp16(element<std::uint16_t>(bytes, i));
    case DataType::bf16:
      return data::from_bf16(element<std::uint16_t>(bytes, i));
    case DataType::fp32:
      return element<float>(bytes, i);
    case DataType::fp64:
      return element<double>(bytes, i);
    case DataType::bytes:
      break;
  }
  return 0;
}

std::string element_text(const engine::OwnTensor& tensor, std::size_t i) {
  switch (tensor.info.type) {
    case DataType::boolean:
      return real(tensor, i) == 0 ? "false" : "true";
    case DataType::uint64:
      return fmt::format("{}", element<std::uint64_t>(tensor.bytes, i));
    case DataType::int64:
      return fmt::format("{}", element<std::int64_t>(tensor.bytes, i));
    default:
      return fmt::format("{:.6g}", real(tensor, i));
  }
}

std::string range_text(const engine::OwnTensor& tensor, std::size_t count) {
  double least = INFINITY, most = -INFINITY, sum = 0;
  std::size_t odd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = real(tensor, i);
    if (!std::isfinite(value)) {
      ++odd;
      continue;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  if (odd == count) return "no finite numbers";
  const std::string out =
      fmt::format("min {:.4g} mean {:.4g} max {:.4g}", least, sum / static_cast<double>(count - odd), most);
  return odd == 0 ? out : out + fmt::format(", {} not finite", odd);
}

std::string listed(std::span<const std::string> words) {
  if (words.size() == 1) return words.front();
  return fmt::format("[{}]", fmt::join(words, ", "));
}

}  // namespace

std::string type_text(const data::TensorInfo& info) {
  return fmt::format("{} [{}]", name_of(info.type), fmt::join(info.shape, ", "));
}

std::vector<std::string> texts_of(const engine::OwnTensor& tensor) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < tensor.bytes.size();) {
    std::uint32_t length = 0;
    CHECK(tensor.bytes.size() - at >= sizeof length);
    std::memcpy(&length, tensor.bytes.data() + at, sizeof length);
    out.push_back(tensor.bytes.substr(at + sizeof length, length));
    at += sizeof length + length;
  }
  return out;
}

std::string value_text(const engine::OwnTensor& tensor) {
  const std::size_t count = data::element_count(tensor.info.shape).value_or(0);
  if (count == 0) return "empty";
  std::vector<std::string> words;
  if (tensor.info.type == DataType::bytes) {
    const std::vector<std::string> texts = texts_of(tensor);
    for (std::size_t i = 0; i < std::min(count, kShownMax); ++i)
      words.push_back("\"" + printable(texts[i], kTextMax) + "\"");
    return listed(words) + (count > kShownMax ? fmt::format(" and {} more", count - kShownMax) : "");
  }
  if (count > kShownMax) return range_text(tensor, count);
  for (std::size_t i = 0; i < count; ++i) words.push_back(element_text(tensor, i));
  return listed(words);
}

}  // namespace sluice::cli
