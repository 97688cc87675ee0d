#include "worker/granted_space.h"

#include "base/text.h"
#include "worker/stopwatch.h"

namespace sluice::worker {

Result<std::span<std::byte>> GrantedSpace::take(std::size_t bytes) {
  if (bytes <= space_.size()) return space_.first(bytes);
  const Stopwatch stopwatch;
  const auto granted = ask(bytes);
  waited_ += stopwatch.elapsed();
  if (!granted) lose();
  space_ =
      granted ? mapping_.at(granted->offset, granted->size).value_or(std::span<std::byte>{}) : std::span<std::byte>{};
  if (bytes <= space_.size()) return space_.first(bytes);
  return Error{ErrorCode::unavailable, str("there is no room for outputs of ", bytes, " bytes")};
}

}  // namespace sluice::worker
