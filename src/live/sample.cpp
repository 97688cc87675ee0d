#include "live/sample.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "data/json.h"
#include "data/tensor_blob.h"
#include "engine/tensor_json.h"
#include "live/batch_dimension.h"

namespace sluice::live {
namespace {

Result<engine::OwnTensor> tensor_of(const Function& function, const std::string& name, const data::Json& value) {
  const auto declared = std::ranges::find(function.inputs, name, &Port::name);
  if (declared == function.inputs.end()) return engine::tensor_of(name, value);
  auto out = engine::tensor_of(*declared, value);
  if (out) return out;
  return Error{ErrorCode::invalid, str("the sample of input '", name, "' of function '", function.name, "' is ",
                                       printable(data::to_text(value)), ", which is not ", name_of(declared->type),
                                       " of the declared shape")};
}

Result<data::Tensor> placed(const engine::OwnTensor& tensor, data::Arena& arena) {
  auto block = arena.allocate(tensor.bytes.size());
  if (!block) return Error{ErrorCode::unavailable, "the object store is full"};
  if (!tensor.bytes.empty()) std::memcpy(block->data(), tensor.bytes.data(), tensor.bytes.size());
  data::Tensor out{.info = tensor.info, .block = std::move(*block), .size = tensor.bytes.size()};
  if (!data::index_texts(out, out.bytes())) {
    return Error{ErrorCode::invalid, str("the sample of input '", tensor.info.name, "' is no tensor")};
  }
  return out;
}

}  // namespace

Result<data::Tensors> Sample::place(const Function& function, data::Arena& arena) const {
  if (is_blob_) return data::from_blob(text_, arena);
  const auto json = data::parse_json(text_);
  const auto* object = json ? json->as<data::JsonObject>() : nullptr;
  if (object == nullptr) return Error{ErrorCode::invalid, "the sample is no JSON object"};
  data::Tensors out;
  for (const auto& [name, value] : *object) {
    const auto tensor = tensor_of(function, name, value);
    if (!tensor) return tensor.error();
    auto there = placed(*tensor, arena);
    if (!there) return there.error();
    out.push_back(std::move(*there));
  }
  if (function.inputs.empty()) (void)take_batch_dimension_off(out);  // as of a request
  return out;
}

}  // namespace sluice::live
