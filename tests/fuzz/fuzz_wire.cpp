// Whatever the bytes are: a message of the worker protocol that encodes to the same bytes, or refused. In both
// directions.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/messages.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string again;
  if (const auto message = wire::decode_to_worker(bytes)) CHECK(wire::encode(*message, again).ok() && again == bytes);
  if (const auto message = wire::decode_from_worker(bytes)) CHECK(wire::encode(*message, again).ok() && again == bytes);
  return 0;
}
