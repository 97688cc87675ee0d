// Plays the searches for ESG's twins (esg_tuned.h), those of many settings at once.
#pragma once
#include <functional>
#include <vector>

#include "reproduce/esg_contenders.h"

namespace sluice::reproduce {

// How long the twins of a setting are searched for.
enum class Tuning {
  none,
  brief,  // one round, 2,000 requests after 1,000: for sweeps, which do it at every point
  whole   // three rounds, 8,000 requests after 2,000
};

// The set-up as it is played while searching: no longer than needed, on the stream that is never measured.
[[nodiscard]] Experiment for_tuning(Experiment set_up, Tuning tuning);

struct TwinSearch {
  Tuning tuning = Tuning::brief;
  std::function<Trial(const Contender&)> trial;  // of a contender, in a set-up for tuning, with kTuningSeed
};
// What a search is expected to take, in requests.
[[nodiscard]] std::uint64_t work_of(Tuning tuning, const Experiment& set_up);
// In the order of the searches; nothing where Tuning::none. What is done is counted as work_of() said.
[[nodiscard]] Result<std::vector<std::optional<EsgTwins>>> find_twins(Player& player,
                                                                      const std::vector<TwinSearch>& searches);

// Gives the contenders that are twins their parameters.
void make_twins(std::vector<Contender>& contenders, const EsgTwins& twins);

}  // namespace sluice::reproduce
