// Booking: what a policy proposes is checked against the books, taken there and told to the invoker.
#pragma once
#include <cstdint>

#include "core/state.h"

namespace sluice::core {

enum class Booked : std::uint8_t { nothing, load, batch };

// One of the proposals for a queue; nothing: it does not fit after all. REQUIRES: it is within its queue and names an
// invoker that is known, else the policy is wrong and the program ends.
[[nodiscard]] Booked book(State& state, const policy::Proposals& proposals, const policy::Proposal& proposal,
                          Commands& out);

}  // namespace sluice::core
