// ESG at its best: two twins of `esg` whose parameters are searched for in every setting, so that a comparison is not
// with our port's defaults. `esg-tuned` has the most hits that were found, `esg-thrifty` the lowest cost within a point
// of them. They are searched for on a stream that is never measured (kTuningSeed); docs/reproduce-esg.md has the space.
#pragma once
#include <cstdint>
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
  unsigned fails = 3;
  unsigned fallback = 0;  // where no path is fast enough: 0 the fastest, 1 the least, 2 the cheapest configuration
  unsigned distinct = 0;  // 1: K different first configurations
  unsigned drop = 0;      // 1: what cannot be met any more is given up
  friend bool operator==(const EsgTuning&, const EsgTuning&) = default;
  [[nodiscard]] std::map<std::string, double> parameters() const;
};

struct EsgTwins {
  EsgTuning tuned, thrifty;
  friend bool operator==(const EsgTwins&, const EsgTwins&) = default;
};

// No stream that is measured has it: those are 1, 2, …, at most a thousand.
inline constexpr std::uint64_t kTuningSeed = 1'000'001;

// The search for both twins of one setting, without running anything: it says what to try and is told what came of it.
// First a coarse grid over what matters most, then one parameter at a time from the best that is known, all values of
// it, round after round until a round changes nothing; first for hits, then for cost. 5,184 combinations are within
// reach, some 50 are tried. Known caveat: two parameters that help only together are found if the coarse grid has both.
class TuningSearch {
 public:
  explicit TuningSearch(unsigned rounds_max) : rounds_max_(rounds_max) {}
  [[nodiscard]] std::vector<EsgTuning> next();  // what to try now, nothing twice; empty: done
  void tell(std::span<const Figures> figures);  // of what next() gave, in its order
  [[nodiscard]] EsgTwins best() const;          // REQUIRES: told at least once
  // About how many combinations one search tries.
  [[nodiscard]] static std::uint64_t expected(unsigned rounds_max);

 private:
  enum class Goal { hits, cost, done };
  [[nodiscard]] const EsgTuning& best_for(Goal goal) const;
  unsigned rounds_max_;
  std::vector<EsgTuning> tried_, asked_;
  std::vector<Figures> figures_;  // of what was tried
  Goal goal_ = Goal::hits;
  unsigned round_ = 0;
  std::size_t parameter_ = 0;
  EsgTuning round_began_;
};

// The position of the best: most hits; of those within 0.1 point of the most, the cheapest per met request; of equal
// ones the first. REQUIRES: not empty.
[[nodiscard]] std::size_t most_hits_of(std::span<const Figures> tried);
// The cheapest per met request of those within a point of the most hits. REQUIRES: not empty.
[[nodiscard]] std::size_t thriftiest_of(std::span<const Figures> tried);
// What `--sweep tuning --requests 3000` gave with the profiles of examples/esg.
[[nodiscard]] EsgTwins known_twins(Setting setting);

}  // namespace sluice::reproduce
