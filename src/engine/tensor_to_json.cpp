#include <cmath>
#include <cstring>
#include <span>

#include "base/text.h"
#include "data/half.h"
#include "engine/rows.h"
#include "engine/tensor_json.h"

namespace sluice::engine {
namespace {

// Takes an element off the front.
template <class T>
T taken(std::span<const std::byte>& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

template <class T>
bool append_real(std::string& out, T number) {
  data::append_number(out, number);
  return std::isfinite(number);
}

template <class T>
bool append_whole(std::string& out, T number) {
  out += str(number);
  return true;
}

// False if JSON has no such value.
bool append_element(std::string& out, DataType type, std::span<const std::byte>& bytes) {
  switch (type) {
    case DataType::boolean:
      out += taken<std::uint8_t>(bytes) != 0 ? "true" : "false";
      return true;
    case DataType::uint8:
      return append_whole(out, taken<std::uint8_t>(bytes));
    case DataType::uint16:
      return append_whole(out, taken<std::uint16_t>(bytes));
    case DataType::uint32:
      return append_whole(out, taken<std::uint32_t>(bytes));
    case DataType::uint64:
      return append_whole(out, taken<std::uint64_t>(bytes));
    case DataType::int8:
      return append_whole(out, taken<std::int8_t>(bytes));
    case DataType::int16:
      return append_whole(out, taken<std::int16_t>(bytes));
    case DataType::int32:
      return append_whole(out, taken<std::int32_t>(bytes));
    case DataType::int64:
      return append_whole(out, taken<std::int64_t>(bytes));
    case DataType::fp16:
      return append_real(out, data::from_fp16(taken<std::uint16_t>(bytes)));
    case DataType::bf16:
      return append_real(out, data::from_bf16(taken<std::uint16_t>(bytes)));
    case DataType::fp32:
      return append_real(out, taken<float>(bytes));
    case DataType::fp64:
      return append_real(out, taken<double>(bytes));
    case DataType::bytes:
      return false;
  }
  return false;
}

// Lists of lists of what `append` appends, one element a call. False once that is.
template <class Append>
bool append_nested(std::string& out, std::span<const std::int64_t> shape, Append& append) {
  if (shape.empty()) return append();
  out += '[';
  for (std::int64_t i = 0; i < shape.front(); ++i) {
    if (i > 0) out += ',';
    if (!append_nested(out, shape.subspan(1), append)) return false;
  }
  out += ']';
  return true;
}

template <class Append>
Status append_elements(std::string& out, const data::TensorInfo& info, const char* wrong, Append append) {
  const auto count = data::element_count(info.shape);
  if (count == 0) {  // without a walk: of the other lengths any may be huge
    out += "[]";
    return Done{};
  }
  const std::span<const std::int64_t> shape = count == 1 ? std::span<const std::int64_t>{} : info.shape;
  if (append_nested(out, shape, append)) return Done{};
  return Error{ErrorCode::invalid, str("input `", printable(info.name), "` cannot be given to a program: ", wrong)};
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Status append_tensor(std::string& out, const data::TensorView& tensor) {
  if (tensor.info.type == DataType::bytes) {
    const auto elements = elements_of(tensor);
    if (!elements) return elements.error();
    auto element = elements->begin();
    return append_elements(out, tensor.info, "a text is not UTF-8", [&] {
      const std::string text(text_of(*element++));  // once: others can write this memory
      data::append_quoted(out, text);
      return data::utf8(text);
    });
  }
  if (data::byte_size(tensor.info.type, tensor.info.shape) != tensor.bytes.size()) {
    return Error{ErrorCode::invalid,
                 str("input `", printable(tensor.info.name), "` does not have the bytes of its shape")};
  }
  std::span<const std::byte> rest = tensor.bytes;
  return append_elements(out, tensor.info, "a number is not finite",
                         [&] { return append_element(out, tensor.info.type, rest); });
}

}  // namespace sluice::engine
