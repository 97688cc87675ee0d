// Instant: what a process or a trace says about one request, before the stream draws what is left open.
#pragma once
#include <cstdint>
#include <optional>

namespace sluice::workload {

struct Instant {
  double ns = 0;  // since the start; a double, because rounding each gap would shift the rate of very fast processes
  std::optional<std::uint32_t> application;  // none: drawn from the mix
};

}  // namespace sluice::workload
