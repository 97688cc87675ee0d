// What chain searches return, and the memory they reuse: after the first searches of a size, none allocates.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/candidate.h"
#include "plan/rivals/ranking.h"

namespace sluice::plan {

// One candidate per stage of a chain.
struct Path {
  double ms = 0;                              // added up in stage order
  Dollars cost = 0;                           // likewise
  std::span<const std::uint32_t> candidates;  // by stage: position in its Candidates
};

// Valid until the workspace is used again.
struct SearchResult {
  std::span<const Path> paths;   // best first; empty if nothing fits
  std::uint64_t expansions = 0;  // pairs (prefix, candidate) looked at
};

// The first stages of a path. Prefixes point at the one they extend instead of copying it.
struct Prefix {
  Dollars cost = 0;
  double ms = 0;
  std::uint32_t parent = 0;  // position among the workspace's prefixes
  std::uint32_t pick = 0;    // position in the stage's sorted arrays
};

// One per thread; what is in it is the searches' own business.
struct SearchWorkspace {
  std::vector<Prefix> prefixes;  // the empty path, then level after level
  Ranking ranking;
  std::vector<Path> paths;
  std::vector<std::uint32_t> path_candidates;
};

}  // namespace sluice::plan
