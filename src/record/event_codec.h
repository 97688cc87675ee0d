// One event and its instant as bytes and back. Used by the event log; every field takes part (base/archive.h).
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "domain/events.h"

namespace sluice::record {

struct Observed {
  Time at;
  Event event;
  void visit(auto& archive) { archive(at, event); }
};

// Appends; REQUIRES: an event whose values were read from documents or made by a driver (nested less than
// Archive::kDepthMax deep).
void encode(const Event& event, Time at, std::string& out);
// An error if the bytes are not exactly one event. What it says may still make no sense: see event_check.h.
[[nodiscard]] Result<Observed> decode(std::string_view bytes);

}  // namespace sluice::record
