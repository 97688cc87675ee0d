#include "plan/irregular_region.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;

// The `needed`-th smallest, 0: the largest. No times: 0.
double nth(std::vector<double>& times, std::uint32_t needed) {
  if (times.empty()) return 0;
  const std::size_t n = needed == 0 ? times.size() : std::min<std::size_t>(needed, times.size());
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(n - 1), times.end());
  return times[n - 1];
}

}  // namespace

IrregularRegion::IrregularRegion(const SeriesParallelTree& tree, SeriesParallelTree::Index node) {
  const SeriesParallelTree::Node& region = tree.nodes[node];
  CHECK(region.kind == Kind::irregular);
  parts_.resize(region.child_count);
  for (const SeriesParallelTree::Edge& edge : tree.edges_of(region)) {
    parts_[edge.from].after.push_back(edge.to);
    parts_[edge.to].before.push_back(edge.from);
  }
  std::uint32_t ends = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::size_t before = parts_[i].before.size();
    const std::size_t needed = tree.needed_to_start(tree.children_of(region)[i], before);
    parts_[i].needed = needed < before ? static_cast<std::uint32_t>(needed) : 0;
    waits_for_all_ = waits_for_all_ && parts_[i].needed == 0;
    ends += parts_[i].after.empty() ? 1 : 0;
  }
  needed_ = region.needed >= ends ? 0 : region.needed;
  waits_for_all_ = waits_for_all_ && needed_ == 0;
}

double IrregularRegion::start(std::size_t part, std::span<const double> finish) const {
  scratch_.clear();
  for (const std::uint32_t before : parts_[part].before) scratch_.push_back(finish[before]);
  return nth(scratch_, parts_[part].needed);
}

double IrregularRegion::finish(std::span<const double> ms, std::span<double> finish) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) finish[i] = start(i, finish) + ms[i];
  scratch_.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].after.empty()) scratch_.push_back(finish[i]);
  }
  return nth(scratch_, needed_);
}

std::vector<bool> IrregularRegion::before(std::size_t part) const {
  std::vector<bool> out(parts_.size());
  for (std::size_t i = part + 1; i-- > 0;) {  // topological order: predecessors have lower positions
    if (i != part && !out[i]) continue;
    for (const std::uint32_t earlier : parts_[i].before) out[earlier] = true;
  }
  return out;
}

void IrregularRegion::tails(std::span<const double> ms, std::span<double> tails) const {
  for (std::size_t i = parts_.size(); i-- > 0;) {
    tails[i] = 0;
    for (const std::uint32_t after : parts_[i].after) tails[i] = std::max(tails[i], ms[after] + tails[after]);
  }
}

}  // namespace sluice::plan
