#include "record/event_codec.h"

#include "base/check.h"
#include "base/save.h"
#include "domain/limits.h"

namespace sluice::record {

// A level of a document becomes at most a few values inside each other.
static_assert(Archive::kDepthMax >= 4 * limits::document_depth_max);

void encode(const Event& event, Time at, std::string& out) {
  CHECK_MSG(save(at, out) && save(event, out), "an event is nested too deep to be read back");
}

Result<Observed> decode(std::string_view bytes) {
  auto observed = load<Observed>(bytes);
  if (!observed) return Error{ErrorCode::invalid, "it holds no event, or one of another version of Sluice"};
  return std::move(*observed);
}

}  // namespace sluice::record
