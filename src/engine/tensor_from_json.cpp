#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "data/half.h"
#include "domain/limits.h"
#include "engine/tensor_json.h"

namespace sluice::engine {
namespace {

using data::Json;
using data::JsonArray;

// A value as a shape and its leaves in order.
struct Flat {
  std::vector<std::int64_t> shape;
  std::vector<const Json*> leaves;
};

bool flatten(const Json& json, std::size_t depth, Flat& flat) {
  const auto* array = json.as<JsonArray>();
  if (depth == flat.shape.size()) {
    if (array == nullptr) flat.leaves.push_back(&json);
    return array == nullptr;
  }
  if (array == nullptr || static_cast<std::int64_t>(array->size()) != flat.shape[depth]) return false;
  for (const Json& item : *array) {
    if (!flatten(item, depth + 1, flat)) return false;
  }
  return true;
}

// Nothing if lists are of different lengths or too deep.
std::optional<Flat> flat(const Json& json) {
  Flat flat;
  for (const auto* array = json.as<JsonArray>(); array != nullptr;) {
    flat.shape.push_back(static_cast<std::int64_t>(array->size()));
    array = array->empty() ? nullptr : array->front().as<JsonArray>();
  }
  if (flat.shape.size() > limits::tensor_rank_max || !flatten(json, 0, flat)) return std::nullopt;
  if (json.as<JsonArray>() == nullptr) flat.shape = {1};
  return flat;
}

template <class T>
bool all(const Flat& flat) {
  return std::ranges::all_of(flat.leaves, [](const Json* leaf) { return leaf->as<T>() != nullptr; });
}

bool all_numbers(const Flat& flat) {
  return std::ranges::all_of(flat.leaves, [](const Json* leaf) {
    return leaf->as<std::int64_t>() != nullptr || leaf->as<double>() != nullptr;
  });
}

template <class T>
void append_raw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& out, std::string_view text) {
  append_raw(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

double real(const Json& json) {
  const auto* whole = json.as<std::int64_t>();
  return whole != nullptr ? static_cast<double>(*whole) : *json.as<double>();
}

// False if the type does not hold it.
template <class T>
bool append_whole(std::string& out, const Json& json) {
  if (const auto* whole = json.as<std::int64_t>()) {
    if (!std::in_range<T>(*whole)) return false;
    append_raw(out, static_cast<T>(*whole));
    return true;
  }
  const double number = *json.as<double>();
  constexpr double kEnd = 2.0 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
  if (number != std::floor(number) || number >= kEnd || number < (std::is_signed_v<T> ? -kEnd : 0)) return false;
  append_raw(out, static_cast<T>(number));
  return true;
}

// REQUIRES: `json` is a number.
bool append_number(std::string& out, DataType type, const Json& json) {
  switch (type) {
    case DataType::uint8:
      return append_whole<std::uint8_t>(out, json);
    case DataType::uint16:
      return append_whole<std::uint16_t>(out, json);
    case DataType::uint32:
      return append_whole<std::uint32_t>(out, json);
    case DataType::uint64:
      return append_whole<std::uint64_t>(out, json);
    case DataType::int8:
      return append_whole<std::int8_t>(out, json);
    case DataType::int16:
      return append_whole<std::int16_t>(out, json);
    case DataType::int32:
      return append_whole<std::int32_t>(out, json);
    case DataType::int64:
      return append_whole<std::int64_t>(out, json);
    case DataType::fp16:
      append_raw(out, data::to_fp16(static_cast<float>(real(json))));
      return true;
    case DataType::bf16:
      append_raw(out, data::to_bf16(static_cast<float>(real(json))));
      return true;
    case DataType::fp32:
      append_raw(out, static_cast<float>(real(json)));
      return true;
    case DataType::fp64:
      append_raw(out, real(json));
      return true;
    case DataType::boolean:
    case DataType::bytes:
      return false;
  }
  return false;
}

// Nothing if the leaves are not of that type.
std::optional<std::string> encoded(const Flat& flat, DataType type) {
  std::string bytes;
  if (type == DataType::bytes) {
    if (!all<std::string>(flat)) return std::nullopt;
    for (const Json* leaf : flat.leaves) append_text(bytes, *leaf->as<std::string>());
  } else if (type == DataType::boolean) {
    if (!all<bool>(flat)) return std::nullopt;
    for (const Json* leaf : flat.leaves) append_raw(bytes, static_cast<std::uint8_t>(*leaf->as<bool>()));
  } else {
    if (!all_numbers(flat)) return std::nullopt;
    for (const Json* leaf : flat.leaves) {
      if (!append_number(bytes, type, *leaf)) return std::nullopt;
    }
  }
  return bytes;
}

std::optional<DataType> natural_type(const Flat& flat) {
  if (flat.leaves.empty()) return DataType::fp64;
  if (all<std::int64_t>(flat)) return DataType::int64;
  if (all_numbers(flat)) return DataType::fp64;
  if (all<bool>(flat)) return DataType::boolean;
  if (all<std::string>(flat)) return DataType::bytes;
  return std::nullopt;
}

std::string text_of(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += str(i == 0 ? "" : ", ", shape[i]);
  return text + "]";
}

// The shape that a value of shape `found` has as declared; nothing if it does not fit. A single value may be declared
// without dimensions, and an empty list says nothing about the lengths inside.
std::optional<std::vector<std::int64_t>> fitted(const std::vector<std::int64_t>& declared, const Json& json,
                                                std::vector<std::int64_t> found) {
  if (json.as<JsonArray>() == nullptr && declared.empty()) return declared;
  if (!found.empty() && found.back() == 0) {
    for (std::size_t i = found.size(); i < declared.size(); ++i)
      found.push_back(std::max<std::int64_t>(declared[i], 0));
  }
  const auto fits = [](std::int64_t wanted, std::int64_t length) { return wanted < 0 || wanted == length; };
  if (!std::ranges::equal(declared, found, fits)) return std::nullopt;
  return found;
}

}  // namespace

OwnTensor tensor_of(const std::string& name, const Json& json) {
  const auto leaves = flat(json);
  const auto type = leaves ? natural_type(*leaves) : std::nullopt;
  auto bytes = type ? encoded(*leaves, *type) : std::nullopt;
  if (!bytes) return tensor_of(name, Json{data::to_text(json)});
  return {{name, *type, leaves->shape}, std::move(*bytes)};
}

Result<OwnTensor> tensor_of(const Port& port, const Json& json) {
  auto leaves = flat(json);
  auto bytes = leaves ? encoded(*leaves, port.type) : std::nullopt;
  if (!bytes && port.type == DataType::bytes) return tensor_of(port, Json{data::to_text(json)});
  if (!bytes) {
    return Error{ErrorCode::invalid, str("output `", port.name, "` is ", printable(data::to_text(json)),
                                         ", which is not of type ", name_of(port.type))};
  }
  const auto shape = fitted(port.shape, json, leaves->shape);
  if (!shape) {
    return Error{ErrorCode::invalid, str("output `", port.name, "` has shape ", text_of(leaves->shape),
                                         ", declared is ", text_of(port.shape))};
  }
  return OwnTensor{{port.name, port.type, *shape}, std::move(*bytes)};
}

}  // namespace sluice::engine
