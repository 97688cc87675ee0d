// Whatever the bytes are: read or refused with a reason; what is read is written as a text that reads back as the same,
// and is a tensor that is what it says.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "data/json.h"
#include "engine/tensor_json.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = data::parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) {
    CHECK(!json.error().message.empty());
    return 0;
  }
  const auto again = data::parse_json(data::to_text(*json));
  CHECK(again.ok() && *again == *json);
  const engine::OwnTensor tensor = engine::tensor_of("x", *json);
  CHECK(data::well_formed(tensor.info, std::as_bytes(std::span(tensor.bytes))));
  for (const DataType type : {DataType::fp16, DataType::uint8, DataType::int64, DataType::bytes}) {
    const auto declared = engine::tensor_of(Port{"x", type, {-1}, std::nullopt}, *json);
    if (declared) CHECK(data::well_formed(declared->info, std::as_bytes(std::span(declared->bytes))));
  }
  return 0;
}
