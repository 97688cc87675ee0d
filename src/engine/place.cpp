#include "engine/place.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "data/arena.h"

namespace sluice::engine {
namespace {

constexpr std::size_t kAlignment = data::Arena::kAlignment;

// False if it does not fit.
bool grow(std::size_t& total, std::size_t bytes) {
  return !__builtin_add_overflow(total, bytes, &total) && !__builtin_add_overflow(total, kAlignment - 1, &total);
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Result<std::vector<BatchTensor>> place(std::vector<PlannedOutput> planned, OutputSpace& space) {
  std::size_t most = 0;  // with every gap as wide as can be: what fits this fits below, too
  std::size_t total = 0;
  for (const PlannedOutput& output : planned) {
    if (!grow(most, output.bytes)) {
      return Error{ErrorCode::too_large, str("output `", output.info.name, "` is too large")};
    }
    total = aligned(total) + output.bytes;
  }
  const auto taken = space.take(total);
  if (!taken) return taken.error();
  CHECK(taken->size() >= total);
  std::vector<BatchTensor> placed;
  std::size_t offset = 0;
  for (PlannedOutput& output : planned) {
    offset = aligned(offset);
    placed.push_back({{std::move(output.info), taken->subspan(offset, output.bytes)}, output.row});
    offset += output.bytes;
  }
  return placed;
}

}  // namespace sluice::engine
