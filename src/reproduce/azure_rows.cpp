#include "reproduce/azure_rows.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/check.h"
#include "base/text.h"
#include "reproduce/esg_points.h"

namespace sluice::reproduce {
namespace {

constexpr std::string_view kAll = "azure";
constexpr Tuning kTuning = Tuning::brief;
constexpr std::array<std::string_view, 4> kExperiments{"azure-100", "azure-500", "azure-llm", "a100-mig"};

// Every contender on every stream of a setting, contender by contender.
std::vector<Trial> trials_of(std::span<const AzureCell> streams, const std::vector<Contender>& contenders) {
  std::vector<Trial> out;
  for (const Contender& contender : contenders) {
    for (const AzureCell& cell : streams) {
      auto own = std::make_shared<Experiment>(*cell.set_up);
      own->parameters = {{contender.scheduler, contender.parameters}};
      out.push_back({.experiment = cell.experiment,
                     .setting = cell.setting,
                     .contender = contender.name,
                     .scheduler = contender.scheduler,
                     .set_up = std::move(own),
                     .seed = cell.seed,
                     .trace_text = cell.trace_text});
    }
  }
  return out;
}

// The last stream is for ESG's twins, the others are measured.
Result<PlayedPoint> play_setting(std::span<const AzureCell> all, Player& player) {
  const std::span<const AzureCell> streams = all.first(all.size() - 1), tuned = all.last(1);
  const TwinSearch search{kTuning, [&](const Contender& contender) {
                            Trial out = trials_of(tuned, {contender}).front();
                            out.set_up = std::make_shared<Experiment>(for_tuning(*out.set_up, kTuning));
                            out.seed = kTuningSeed;
                            return out;
                          }};
  const auto twins = find_twins(player, {search});
  if (!twins) return twins.error();
  const std::vector<Contender> contenders = reproduce::contenders(*twins->front());
  const auto figures = player.play(trials_of(streams, contenders));
  if (!figures) return figures.error();
  PlayedPoint out{.setting = streams.front().setting, .contenders = {}, .twins = {}};
  auto next = figures->begin();
  for (const Contender& contender : contenders) {
    const auto end = next + static_cast<std::ptrdiff_t>(streams.size());
    out.contenders.emplace_back(contender.name, std::vector<Figures>(next, end));
    next = end;
  }
  return out;
}

}  // namespace

bool is_azure_sweep(std::string_view sweep) {
  return sweep == kAll || std::ranges::find(kExperiments, sweep) != kExperiments.end();
}

Result<std::vector<Row>> azure_rows(std::string_view sweep, const AzureData& data, const Experiment& evaluation,
                                    std::uint64_t streams, Player& player) {
  CHECK(is_azure_sweep(sweep) && streams > 0);
  const std::uint64_t pieces = streams + 1;
  const auto cells = azure_cells(evaluation, data, pieces, sweep == kAll ? std::string_view() : sweep);
  if (!cells) return cells.error();
  std::uint64_t work = 0;
  for (std::size_t c = 0; c < cells->size(); ++c) {
    const Experiment& set_up = *(*cells)[c].set_up;
    const bool tuned = c % pieces == streams;
    work +=
        tuned ? work_of(kTuning, set_up) : contenders({}).size() * (set_up.workload.requests + set_up.workload.warmup);
  }
  if (player.means().expect) player.means().expect(work);
  std::vector<Row> out;
  for (std::size_t first = 0; first < cells->size(); first += pieces) {
    const auto point = play_setting(std::span(*cells).subspan(first, pieces), player);
    if (!point) return point.error();
    const std::vector<Row> rows = rows_of((*cells)[first].experiment, *point);
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

}  // namespace sluice::reproduce
