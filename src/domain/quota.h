// Quota: what one tenant may have at once. Absent: no limit.
#pragma once
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace sluice {

struct Quota {
  std::optional<double> requests_per_second;
  std::optional<std::uint32_t> requests;      // taken and not answered
  std::optional<Bytes> bytes;                 // of shared memory: inputs, what stages leave, space for outputs
  std::optional<std::uint32_t> functions;     // of all its applications
  std::optional<std::uint32_t> vcpu, slices;  // that its running batches hold
  friend bool operator==(const Quota&, const Quota&) = default;
};

}  // namespace sluice
