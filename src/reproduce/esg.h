// `sluice reproduce esg`: ESG's evaluation (HPDC 2024) with its four baselines, our scheduler and `fifo`; the paper's
// numbers beside ours, and which of its claims hold. What is assumed is in docs/reproduce-esg.md.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reproduce/esg_player.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

struct EsgOptions {
  std::vector<Setting> settings;  // empty: the three headline settings; with `full` all nine
  bool full = false;              // 20 streams × 20,000 requests, Aquatope's full budget, ESG's twins tuned anew
  std::optional<std::uint64_t> streams, requests;
  std::vector<std::string> sweeps;  // instead of the settings: these
  Profiles profiles;
  std::string data;  // folder with what the `azure` sweeps need (azure.h)
};

[[nodiscard]] std::span<const std::string_view> sweep_names();

// An error if a sweep is unknown, a profile cannot be used or a run breaks an invariant.
[[nodiscard]] Result<std::vector<Row>> reproduce_esg(const EsgOptions& options, const Means& means);

}  // namespace sluice::reproduce
