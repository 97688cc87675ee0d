// Whatever the bytes are: loaded or refused with a reason, and what is loaded is written as the same bytes again.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "data/tensor_blob.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::shared_ptr<data::Arena> arena = data::Arena::make(Bytes(4'096)).value();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tensors = data::from_blob(bytes, *arena);
  CHECK(!tensors || data::to_blob(*tensors) == bytes);
  return 0;
}
