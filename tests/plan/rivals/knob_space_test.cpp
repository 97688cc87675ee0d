#include "plan/rivals/knob_space.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"
#include "support/esg_profile.h"
#include "support/random_candidates.h"

namespace sluice::plan {
namespace {

WorkflowModel model_of(std::vector<Candidates> stages) {
  WorkflowModel out;
  for (Candidates& candidates : stages) {
    out.stages.push_back({.candidates = std::move(candidates)});
    out.stages.back().sd_ms.resize(out.stages.back().candidates.size());
  }
  return out;
}

TEST(KnobSpace, OnAFullGridEveryKnobIsItsIndex) {
  const WorkflowModel model = model_of({esg_profile::candidates(esg_profile::kDeblur)});
  const KnobSpace space(model);
  ASSERT_EQ(space.dimensions(), 3u);
  Rng rng(1);
  std::vector<std::uint32_t> found;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> x{rng.uniform(), rng.uniform(), rng.uniform()};
    space.at(x, found);
    const auto index = [](double at, const auto& set) {
      return set[static_cast<std::size_t>(at * static_cast<double>(std::size(set)))];
    };
    EXPECT_EQ(model.stages[0].candidates[found[0]].configuration,
              configuration(index(x[0], esg_profile::kBatches), index(x[1], esg_profile::kVcpus),
                            index(x[2], esg_profile::kSlices)));
  }
  space.at(std::vector{1.0, 1.0, 1.0}, found);  // the upper end belongs to the last
  EXPECT_EQ(model.stages[0].candidates[found[0]].configuration, configuration(32, 16, 7));
}

TEST(KnobSpace, ReachesEveryCandidateOfATableWithHoles) {
  Rng rng(2);
  const WorkflowModel model = model_of({random_candidates(rng, 12, true), random_candidates(rng, 5, true)});
  const KnobSpace space(model);
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  std::vector<double> x(space.dimensions());
  std::vector<std::uint32_t> found;
  for (int i = 0; i < 20'000; ++i) {
    for (double& v : x) v = rng.uniform();
    space.at(x, found);
    for (std::size_t s = 0; s < 2; ++s) seen.emplace(s, found[s]);
  }
  EXPECT_EQ(seen.size(), 17u);
}

TEST(KnobSpace, StagesWithoutAChoiceHaveNoKnobs) {
  Rng rng(3);
  const KnobSpace space(model_of({random_candidates(rng, 1, true), random_candidates(rng, 4, true)}));
  EXPECT_EQ(space.dimensions(), 3u);
  std::vector<std::uint32_t> found;
  space.at(std::vector{0.5, 0.5, 0.5}, found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], 0u);
}

}  // namespace
}  // namespace sluice::plan
