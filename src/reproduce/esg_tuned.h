// ESG at its best: for a setting the safety factor, K, order of queues and group size that come out best in hindsight,
// so that a comparison is not with our port's defaults.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "reproduce/esg_figures.h"
#include "reproduce/esg_settings.h"

namespace sluice::reproduce {

struct EsgTuning {
  double safety = 1;  // the budget is divided by it
  unsigned k = 5;
  unsigned order = 0;  // 0 round robin, 1 by deadline
  unsigned group = 3;
  friend bool operator==(const EsgTuning&, const EsgTuning&) = default;
  [[nodiscard]] std::map<std::string, double> parameters() const;
};

// safety 1, 1.02, 1.04, 1.06, 1.08, 1.1, 1.15, 1.2 × K 1, 5, 10 × order 0, 1 × group 1, 3, 5.
[[nodiscard]] std::vector<EsgTuning> tuning_grid();
// safety 1, 1.04, 1.08, 1.15 × order, with K 5 and groups of 3: what matters most, for sweeps that tune at every point.
[[nodiscard]] std::vector<EsgTuning> short_tuning_grid();
// The position of the best: most hits; of those within 0.1 point of the most, the cheapest per met request; of equal
// ones the first. REQUIRES: not empty.
[[nodiscard]] std::size_t best_tuning(std::span<const Figures> tried);
// What the whole grid gave on stream 1 with 4,000 requests and the profiles of examples/esg (docs/reproduce-esg.md).
[[nodiscard]] EsgTuning known_tuning(Setting setting);

}  // namespace sluice::reproduce
