// Who is compared in ESG's evaluation: the schedulers of the catalog with the parameters of their rows.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reproduce/esg_player.h"
#include "reproduce/esg_tuned.h"

namespace sluice::reproduce {

struct Contender {
  std::string name;       // of its rows
  std::string scheduler;  // of the catalog
  std::map<std::string, double> parameters;
};

// `sluice` as it is, `sluice-hits` (the same, not fair between applications), `esg`, its twins `esg-tuned` and
// `esg-thrifty`, the four baselines and `fifo`, in this order.
[[nodiscard]] std::vector<Contender> contenders(const EsgTwins& twins);
[[nodiscard]] Contender contender(std::string_view name, const EsgTwins& twins = {});  // REQUIRES: it is one of them
// The five of the paper: esg and its four baselines.
[[nodiscard]] std::span<const std::string_view> paper_contenders();

// The set-up with the contender's parameters, once for every stream.
[[nodiscard]] std::vector<Trial> trials_of(const std::string& experiment, const std::string& setting,
                                           const Contender& contender, const Experiment& set_up, std::uint64_t streams);

}  // namespace sluice::reproduce
