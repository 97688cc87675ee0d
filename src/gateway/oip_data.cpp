#include "gateway/oip_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "gateway/invalid.h"
#include "gateway/oip_request.h"

namespace sluice::gateway {
namespace {

namespace ondemand = simdjson::ondemand;

// Walks nested arrays and hands every element that is none to `take`. Depth is bounded by kJsonDepthMax.
template <class Take>
Status walk(ondemand::array array, Take& take) {
  for (auto element : array) {
    ondemand::value value;
    // NOLINTNEXTLINE(performance-move-const-arg): get() is there for temporaries alone
    if (const auto error = std::move(element).get(value)) return json_error(error);
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return json_error(error);
    if (type != ondemand::json_type::array) {
      if (Status done = take(value); !done) return done;
      continue;
    }
    ondemand::array inner;
    if (const auto error = value.get_array().get(inner)) return json_error(error);
    if (Status done = walk(inner, take); !done) return done;
  }
  return Done{};
}

struct Sink {
  const InputHead& head;
  std::size_t expected, taken = 0;

  // Triton's sentence, and where it is.
  [[nodiscard]] Error wrong_count(std::string_view got) const {
    return invalid(str("Unable to parse 'data': Shape does not match true shape of 'data' field: input '", head.name,
                       "' has ", got, " elements, its shape ", shape_text(head.shape), " has ", expected));
  }
  [[nodiscard]] Error too_many() const { return wrong_count(str("more than ", expected)); }
  [[nodiscard]] Error too_few() const { return wrong_count(str(taken)); }
  [[nodiscard]] Error does_not_fit(std::string_view token) const {
    while (!token.empty() && (token.back() == ' ' || token.back() == '\n')) token.remove_suffix(1);
    return invalid(str("input '", head.name, "' has ", printable(token, 40), " as element ", taken, ", which is no ",
                       name_of(head.type)));
  }
};

// Whether the JSON value is a T, range included.
template <class T>
bool read(ondemand::value& value, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    ondemand::json_type type{};
    std::uint64_t number = 0;
    if (!value.type().get(type) && type == ondemand::json_type::boolean) return !value.get_bool().get(out);
    if (value.get_uint64().get(number) || number > 1) return false;
    out = number == 1;
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    double number = 0;
    if (value.get_double().get(number) || std::abs(number) > static_cast<double>(std::numeric_limits<T>::max())) {
      return false;
    }
    out = static_cast<T>(number);
    return true;
  } else {
    std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t> number = 0;
    if (value.get(number) || !std::in_range<T>(number)) return false;
    out = static_cast<T>(number);
    return true;
  }
}

template <class T>
struct NumberSink : Sink {
  std::byte* out;

  Status operator()(ondemand::value& value) {
    if (taken == expected) return too_many();
    const std::string_view token = value.raw_json_token();
    T number{};
    if (!read(value, number)) return does_not_fit(token);
    std::memcpy(out + taken * sizeof(T), &number, sizeof(T));
    ++taken;
    return Done{};
  }
};

struct BytesSink : Sink {
  std::string out = {};

  Status operator()(ondemand::value& value) {
    if (taken == expected) return too_many();
    const std::string_view token = value.raw_json_token();
    std::string_view text;
    if (value.get_string().get(text)) return does_not_fit(token);
    const auto length = static_cast<std::uint32_t>(text.size());  // below kJsonBytesMax
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
    ++taken;
    return Done{};
  }
};

// Only counts, where there cannot be enough elements anyway.
struct CountSink : Sink {
  Status operator()(ondemand::value&) {
    ++taken;
    return Done{};
  }
};

template <class T>
Result<data::Tensor> place_numbers(const InputHead& head, ondemand::array data, std::size_t count, data::Arena* arena) {
  auto tensor = allocate(head, count * sizeof(T), arena);
  if (!tensor) return tensor;
  NumberSink<T> sink{{head, count}, tensor->bytes().data()};
  if (Status done = walk(data, sink); !done) return done.error();
  if (sink.taken != count) return sink.too_few();
  return tensor;
}

Result<data::Tensor> place_texts(const InputHead& head, ondemand::array data, std::size_t count,
                                 const live::Model& model, data::Arena* arena) {
  BytesSink sink{{head, count}};
  if (Status done = walk(data, sink); !done) return done.error();
  if (sink.taken != count) return sink.too_few();
  return place(head, sink.out, model, arena);
}

Result<data::Tensor> place_typed(const InputHead& head, ondemand::array data, std::size_t count,
                                 const live::Model& model, data::Arena* arena) {
  switch (head.type) {
    case DataType::boolean:
      return place_numbers<bool>(head, data, count, arena);
    case DataType::uint8:
      return place_numbers<std::uint8_t>(head, data, count, arena);
    case DataType::uint16:
      return place_numbers<std::uint16_t>(head, data, count, arena);
    case DataType::uint32:
      return place_numbers<std::uint32_t>(head, data, count, arena);
    case DataType::uint64:
      return place_numbers<std::uint64_t>(head, data, count, arena);
    case DataType::int8:
      return place_numbers<std::int8_t>(head, data, count, arena);
    case DataType::int16:
      return place_numbers<std::int16_t>(head, data, count, arena);
    case DataType::int32:
      return place_numbers<std::int32_t>(head, data, count, arena);
    case DataType::int64:
      return place_numbers<std::int64_t>(head, data, count, arena);
    case DataType::fp32:
      return place_numbers<float>(head, data, count, arena);
    case DataType::fp64:
      return place_numbers<double>(head, data, count, arena);
    case DataType::bytes:
      return place_texts(head, data, count, model, arena);
    case DataType::fp16:
    case DataType::bf16:
      break;
  }
  return invalid(str("receiving ", name_of(head.type),
                     " data via JSON is not supported. Please use the binary data format for input ", head.name));
}

}  // namespace

Result<data::Tensor> place_json(const InputHead& head, ondemand::array data, std::size_t json_bytes,
                                const live::Model& model, data::Arena* arena) {
  const auto count = data::element_count(head.shape);
  const auto bytes = data::byte_size(head.type, head.shape);
  if (!count || !bytes) {
    return invalid(str("input '", head.name, "' has a shape too large: ", shape_text(head.shape)));
  }
  if (*bytes > kJsonTensorBytesMax) {
    return invalid(str("JSON input '", head.name, "' has a byte_size (", *bytes,
                       " bytes) that exceeds the maximum allowed value of ", kJsonTensorBytesMax,
                       " bytes. Please use the binary data format for it."));
  }
  // An element is at least a digit: nothing is allocated for elements that cannot be there.
  if (*count > json_bytes) {
    CountSink sink{{head, *count}};
    if (Status done = walk(data, sink); !done) return done.error();
    return sink.too_few();
  }
  return place_typed(head, data, *count, model, arena);
}

Error json_error(simdjson::error_code code) {
  return invalid(str("failed to parse the request JSON buffer: ", simdjson::error_message(code)));
}

}  // namespace sluice::gateway
