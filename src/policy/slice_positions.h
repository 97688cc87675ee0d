// Which slices of a GPU a share gets: the rules of the slice layouts.
#pragma once
#include <cstdint>
#include <optional>

#include "domain/cluster.h"

namespace sluice::policy {

struct FreeSlices {
  std::uint32_t slices = 0;  // in all
  std::uint64_t free = 0;    // a bit each
};

// A bit for each of `count` slices, from the lowest on.
[[nodiscard]] constexpr std::uint64_t all_slices(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Whether a batch could start on a machine on which nothing runs: vCPUs, kind of device (`gpu` is any), and slices of
// one GPU where the layout lets them start.
[[nodiscard]] bool machine_holds(const NodeGroup& machine, const Configuration& c);

// The positions for `wanted` slices: the lowest free ones where the layout lets them start; nothing if there are none.
[[nodiscard]] std::optional<std::uint64_t> free_positions(const FreeSlices& gpu, std::uint32_t wanted,
                                                          SliceLayout layout);

}  // namespace sluice::policy
