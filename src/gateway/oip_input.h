// The checks and the placing of one input of an inference request, whichever way its bytes came. Used by oip_request.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/tensor.h"
#include "live/snapshot.h"

namespace sluice::gateway {

using data::Shape;

[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);  // "[-1,16]"
// As metadata shows it: with the batch dimension in front.
[[nodiscard]] Shape shown_shape(const Port& port);
// Null: not declared.
[[nodiscard]] const Port* find_port(const std::vector<Port>& ports, std::string_view name);

// "[request id: 42] ", which Triton puts in front of errors of checks that come after reading.
[[nodiscard]] std::string id_prefix(std::string_view id);

// One input as the request describes it.
struct InputHead {
  std::string name;
  DataType type = DataType::fp32;
  Shape shape;
  std::uint32_t rows = 0;  // its batch dimension; 0: it has none. A dimension of 1 is gone from `shape`
};

// Checks the head against what the model declares and finds the batch dimension. Errors want id_prefix().
[[nodiscard]] Status check_input(InputHead& head, const live::Model& model);

// Room for `bytes` as the tensor `head`. too_large: never, unavailable: not now.
[[nodiscard]] Result<data::Tensor> allocate(const InputHead& head, std::size_t bytes, data::Arena* arena);
// The tensor with these bytes, if they are what type and shape ask for. Errors of code invalid want id_prefix().
[[nodiscard]] Result<data::Tensor> place(const InputHead& head, std::string_view bytes, const live::Model& model,
                                         data::Arena* arena);
// The body of a raw binary request as the only input of the model, its shape found from the size.
[[nodiscard]] Result<data::Tensor> place_raw(std::string_view body, const live::Model& model, data::Arena* arena);

}  // namespace sluice::gateway
