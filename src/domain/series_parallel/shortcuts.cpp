// drop_shortcuts of region.h.
#include <algorithm>

#include "domain/series_parallel/region.h"

namespace sluice::reduction {
namespace {

constexpr std::size_t kMembersMax = 4'094;  // 2 MB of bits

// For each junction of a region the junctions that are surely over when it is. Junctions are numbered in topological
// order, the entry 0.
class Implied {
 public:
  Implied(const Network& network, const Region& region)
      : network_(network), last_edges_(last_edges(network, region)), order_(region.members) {
    order_.push_back(region.entry);
    order_.push_back(region.exit);
    std::sort(order_.begin(), order_.end(),
              [&](Junction a, Junction b) { return network.position(a) < network.position(b); });
    words_ = (order_.size() + 63) / 64;
    bits_.assign(words_ * order_.size(), 0);
    for (std::size_t i = 1; i < order_.size(); ++i) {
      // What counts its branches implies none of them, only the entry, from which all come.
      if (network.needed(order_[i]) > 0)
        row(i)[0] |= 1;
      else
        for (const EdgeId e : inside(i)) add(row(i), number(network.edge(e).tail));
    }
  }

  // Empty edges into the i-th junction whose tail another of its edges implies.
  [[nodiscard]] std::vector<EdgeId> shortcuts(std::size_t i) const {
    std::vector<EdgeId> found;
    if (network_.needed(order_[i]) > 0) return found;
    std::vector<std::uint64_t> indirect(words_, 0);
    const std::vector<EdgeId> edges = inside(i);
    for (const EdgeId e : edges) {
      const std::uint64_t* const before = bits_.data() + words_ * number(network_.edge(e).tail);
      for (std::size_t w = 0; w < words_; ++w) indirect[w] |= before[w];
    }
    for (const EdgeId e : edges) {
      const std::size_t tail = number(network_.edge(e).tail);
      if (network_.edge(e).part == kEmpty && (indirect[tail / 64] >> (tail % 64) & 1) != 0) found.push_back(e);
    }
    return found;
  }

  [[nodiscard]] std::size_t size() const { return order_.size(); }

 private:
  [[nodiscard]] std::uint64_t* row(std::size_t i) { return bits_.data() + words_ * i; }
  void add(std::uint64_t* to, std::size_t i) {
    for (std::size_t w = 0; w < words_; ++w) to[w] |= row(i)[w];
    to[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  [[nodiscard]] std::size_t number(Junction j) const {
    const auto at = std::lower_bound(order_.begin(), order_.end(), j, [&](Junction a, Junction b) {
      return network_.position(a) < network_.position(b);
    });
    return static_cast<std::size_t>(at - order_.begin());
  }
  // Edges of the region into the i-th junction.
  [[nodiscard]] std::vector<EdgeId> inside(std::size_t i) const {
    if (i + 1 == order_.size()) return last_edges_;
    std::vector<EdgeId> edges;
    for (const EdgeId e : network_.edges_into(order_[i])) edges.push_back(e);
    return edges;
  }

  const Network& network_;
  std::vector<EdgeId> last_edges_;
  std::vector<Junction> order_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

bool drop_shortcuts(Network& network, const Region& region) {
  if (region.members.size() > kMembersMax) return false;
  const Implied implied(network, region);
  std::vector<EdgeId> shortcuts;
  for (std::size_t i = 1; i < implied.size(); ++i) {
    const std::vector<EdgeId> found = implied.shortcuts(i);
    shortcuts.insert(shortcuts.end(), found.begin(), found.end());
  }
  for (const EdgeId e : shortcuts) network.remove(e);
  if (!shortcuts.empty()) network.bundle(region.members);
  return !shortcuts.empty();
}

}  // namespace sluice::reduction
