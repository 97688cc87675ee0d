#include "gateway/oip_input.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "gateway/invalid.h"

namespace sluice::gateway {
namespace {

bool matches(std::span<const std::int64_t> sent, std::span<const std::int64_t> declared) {
  return std::ranges::equal(sent, declared, [](std::int64_t a, std::int64_t b) { return b < 0 || a == b; });
}

Error size_mismatch(const InputHead& head, const live::Model& model, std::size_t expected, std::size_t got) {
  return invalid(str("input byte size mismatch for input '", head.name, "' for model '", model.name, "'. Expected ",
                     expected, ", got ", got));
}

// Raw binary: the shape of one item, its one dimension of any length found from the size.
Result<Shape> deduce_shape(const Port& port, std::size_t bytes) {
  Shape shape = port.shape;
  const auto any = [](std::int64_t dimension) { return dimension < 0; };
  const auto variable = std::ranges::find_if(shape, any);
  if (variable == shape.end()) return shape;
  if (std::any_of(variable + 1, shape.end(), any)) {
    return invalid(str("The shape of the raw input '", port.name,
                       "' can not be deduced because there are more than one variable-sized dimension"));
  }
  *variable = 1;
  const auto unit = data::byte_size(port.type, shape);
  if (!unit || *unit == 0 || bytes % *unit != 0) {
    return invalid(str("The shape of the raw input '", port.name, "' can not be deduced: ", bytes,
                       " bytes do not fill the shape ", shape_text(port.shape)));
  }
  *variable = static_cast<std::int64_t>(bytes / *unit);
  return shape;
}

// The whole body is the one element.
Result<data::Tensor> place_raw_element(const InputHead& head, std::string_view body, data::Arena* arena) {
  if (body.size() > std::numeric_limits<std::uint32_t>::max()) {
    return invalid(str("raw input '", head.name, "' of ", body.size(), " bytes is longer than an element may be"));
  }
  const auto length = static_cast<std::uint32_t>(body.size());
  auto tensor = allocate(head, sizeof length + body.size(), arena);
  if (!tensor) return tensor;
  std::memcpy(tensor->bytes().data(), &length, sizeof length);
  if (!body.empty()) std::memcpy(tensor->bytes().data() + sizeof length, body.data(), body.size());
  tensor->texts = {std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{0, tensor->size})};
  return tensor;
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string out = "[";
  for (const std::int64_t dimension : shape) {
    if (out.size() > 1) out += ',';
    out += str(dimension);
  }
  return out + "]";
}

Shape shown_shape(const Port& port) {
  Shape shape = port.shape;
  shape.push_front(-1);
  return shape;
}

const Port* find_port(const std::vector<Port>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &Port::name);
  return found == ports.end() ? nullptr : &*found;
}

std::string id_prefix(std::string_view id) {
  return str("[request id: ", id.empty() ? "<id_unknown>" : id, "] ");
}

Status check_input(InputHead& head, const live::Model& model) {
  if (model.inputs.empty()) return Done{};
  const Port* port = find_port(model.inputs, head.name);
  CHECK(port != nullptr);
  if (head.type != port->type) {
    return invalid(str("inference input '", head.name, "' data-type is '", name_of(head.type), "', but model '",
                       model.name, "' expects '", name_of(port->type), "'"));
  }
  if (matches(head.shape, port->shape)) return Done{};
  const bool fits = head.shape.size() == port->shape.size() + 1 && head.shape.front() >= 1 &&
                    matches(std::span(head.shape).subspan(1), port->shape);
  if (!fits) {
    return invalid(str("unexpected shape for input '", head.name, "' for model '", model.name, "'. Expected ",
                       shape_text(shown_shape(*port)), ", got ", shape_text(head.shape), "."));
  }
  if (head.shape.front() > limits::request_rows_max) {
    return invalid(
        str("inference request batch-size must be <= ", limits::request_rows_max, " for '", model.name, "'"));
  }
  head.rows = static_cast<std::uint32_t>(head.shape.front());
  if (head.rows == 1) head.shape.pop_front();
  return Done{};
}

Result<data::Tensor> allocate(const InputHead& head, std::size_t bytes, data::Arena* arena) {
  if (arena != nullptr && bytes > arena->capacity()) {
    return Error{ErrorCode::too_large,
                 str("input '", head.name, "' of ", bytes, " bytes is larger than all memory for inputs, ",
                     arena->capacity(), " bytes")};
  }
  auto block = arena == nullptr ? std::nullopt : arena->allocate_input(bytes);
  if (!block) {
    return Error{ErrorCode::unavailable, str("no room for input '", head.name, "' of ", bytes, " bytes now")};
  }
  return data::Tensor{.info = {.name = head.name, .type = head.type, .shape = head.shape},
                      .block = *std::move(block),
                      .offset = 0,
                      .size = bytes};
}

Result<data::Tensor> place(const InputHead& head, std::string_view bytes, const live::Model& model,
                           data::Arena* arena) {
  const auto expected = data::byte_size(head.type, head.shape);
  if (!expected) return invalid(str("input '", head.name, "' has a shape too large: ", shape_text(head.shape)));
  if (head.type != DataType::bytes && *expected != bytes.size()) {
    return size_mismatch(head, model, *expected, bytes.size());
  }
  data::Tensor checked{.info = {.name = head.name, .type = head.type, .shape = head.shape}};
  if (!data::index_texts(checked, std::as_bytes(std::span(bytes)))) {
    return invalid(str("input '", head.name, "' for model '", model.name, "' does not hold exactly the ",
                       *data::element_count(head.shape), " elements of its shape ", shape_text(head.shape)));
  }
  auto tensor = allocate(head, bytes.size(), arena);
  if (!tensor) return tensor;
  if (!bytes.empty()) std::memcpy(tensor->bytes().data(), bytes.data(), bytes.size());
  tensor->texts = std::move(checked.texts);
  return tensor;
}

Result<data::Tensor> place_raw(std::string_view body, const live::Model& model, data::Arena* arena) {
  if (model.inputs.size() != 1) {
    return invalid(str("Raw request must only have 1 input (found 1) to be deduced but got ", model.inputs.size(),
                       " inputs in '", model.name, "' model configuration"));
  }
  const Port& port = model.inputs.front();
  if (port.type == DataType::bytes) {
    if (Shape(port.shape) != Shape{1}) {
      return invalid(str("For BYTE datatype raw input '", port.name,
                         "', the model must have input shape [1], expected ", shape_text(port.shape)));
    }
    return place_raw_element({.name = port.name, .type = port.type, .shape = {1}}, body, arena);
  }
  auto shape = deduce_shape(port, body.size());
  if (!shape) return shape.error();
  return place({.name = port.name, .type = port.type, .shape = *std::move(shape)}, body, model, arena);
}

}  // namespace sluice::gateway
