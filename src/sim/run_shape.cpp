#include "sim/run_shape.h"

#include <algorithm>

namespace sluice::sim {
namespace {

// How much a request is worth a look: misses count by how late they are, others little.
double telling(double share) {
  return 1e-3 * share + std::max(0.0, share - 1);
}

}  // namespace

void RunShape::request(const RequestRow& row) {
  if (!row.measured) return;
  Shares& shares = shares_[row.application];
  const Duration objective = row.deadline - row.arrival;
  const Duration latency = row.finish - row.arrival;
  ++shares.ends[static_cast<std::size_t>(row.ending)];
  shares.objective = objective;
  shares.cost += row.cost;
  if (row.ending != Ending::met && row.ending != Ending::late) return;
  const double share = latency / objective;
  if (share > worst_.share) worst_ = {row.id.value(), share};
  const std::size_t block = row.id.value() / kBlock;
  if (block >= blocks_.size()) blocks_.resize(block + 1);
  blocks_[block] = std::max(blocks_[block], static_cast<float>(share));
  // Upper ends belong to their bin: a request that just met its objective must not look late.
  auto bin = static_cast<std::size_t>(share * kBinsPerObjective);
  if (bin > 0 && objective * (static_cast<double>(bin) / kBinsPerObjective) >= latency) --bin;
  if (bin >= kBins) {
    ++shares.slower;
    return;
  }
  if (bin >= shares.counts.size()) shares.counts.resize(bin + 1);
  ++shares.counts[bin];
}

void RunShape::action(const ActionRow& row) {
  for (const BatchMember& member : row.members) {
    if (member.request.value() < warmup_) continue;
    ++times_.members;
    times_.waiting_ms += (row.decided - member.ready).to_ms();
    times_.deciding_ms += (row.started - row.decided).to_ms();
    times_.loading_ms += row.loading.to_ms();
    times_.transfer_ms += row.transfer.to_ms();
    times_.execution_ms += row.measured.to_ms();
    times_.expected_ms += row.expected.to_ms();
  }
}

float RunShape::slowest(std::size_t block, std::size_t blocks) const {
  const auto at = [&](std::size_t b) {
    return blocks_.begin() + static_cast<std::ptrdiff_t>(std::min(b, blocks_.size()));
  };
  const auto slowest = std::max_element(at(block), at(block + blocks));
  return slowest == at(block + blocks) ? 0 : *slowest;
}

std::uint64_t RunShape::choose_window(const std::vector<const RunShape*>& runs, std::uint64_t length) {
  const std::size_t wide = std::max<std::uint64_t>(1, length / kBlock);
  std::size_t blocks = 0, warmup = ~std::size_t{0};
  for (const RunShape* run : runs) {
    const auto first = std::find_if(run->blocks_.begin(), run->blocks_.end(), [](float share) { return share > 0; });
    warmup = std::min(warmup, static_cast<std::size_t>(first - run->blocks_.begin()));
    blocks = std::max(blocks, run->blocks_.size());
  }
  std::size_t best = warmup, last = warmup;  // of equally good ones in a row, the middle shows before and after
  double best_score = -1;
  for (std::size_t block = warmup; block == warmup || block + wide <= blocks; ++block) {
    double score = 0;
    for (const RunShape* run : runs) {
      if (run->worst_.share > 0) score += telling(run->slowest(block, wide)) / telling(run->worst_.share);
    }
    if (score > best_score + 1e-6) {
      best = last = block;
      best_score = score;
    } else if (score > best_score - 1e-6 && last + 1 == block) {
      last = block;
    }
  }
  return (best + last) / 2 * kBlock;
}

}  // namespace sluice::sim
