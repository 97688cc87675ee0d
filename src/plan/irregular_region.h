// An irregular region of a workflow: parts that start as soon as the parts before them have finished. Says when the
// whole region is over, and how much time each part may take.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "domain/series_parallel.h"

namespace sluice::plan {

class IrregularRegion {
 public:
  // REQUIRES: tree.nodes[node] is irregular.
  IrregularRegion(const SeriesParallelTree& tree, SeriesParallelTree::Index node);

  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  // Every join waits for all: then the longest path decides.
  [[nodiscard]] bool waits_for_all() const { return waits_for_all_; }

  // When the region is over if part i takes ms[i]; `finish`, one entry a part, is filled.
  [[nodiscard]] double finish(std::span<const double> ms, std::span<double> finish) const;
  // The start of part i from the finishes of the parts before it.
  [[nodiscard]] double start(std::size_t part, std::span<const double> finish) const;
  // By part: whether it must have finished before `part` can start. Joins that need fewer count as if they needed all.
  [[nodiscard]] std::vector<bool> before(std::size_t part) const;
  // For each part the longest path from its end to the end of the region, joins taken to wait for all.
  void tails(std::span<const double> ms, std::span<double> tails) const;

 private:
  struct Part {
    std::vector<std::uint32_t> before, after;
    std::uint32_t needed = 0;  // of `before`; 0: all
  };
  std::vector<Part> parts_;   // in topological order
  std::uint32_t needed_ = 0;  // of the parts that nothing follows
  bool waits_for_all_ = true;
  mutable std::vector<double> scratch_;
};

}  // namespace sluice::plan
